package io.millrace.store.curve;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a simulation has overcome its cold start, during which most requests are misses in every simulated
 * cache.
 *
 * <p>The start is divided into windows. A window has at least {@value #WINDOW_PERIODS} periods and {@value
 * #REQUESTS_MIN} simulated requests. At its end the figures are usable if both conditions hold:
 *
 * <ul>
 *   <li>The simulated cache of the present size has evicted a key. Or less than 1 % of the requests are misses in it:
 *       then a larger cache cannot gain a percentage point.
 *   <li>The gain of each larger size is within one percentage point of the gain in the window before.
 * </ul>
 *
 * <p>Confined to the thread that computes the curve of hit ratios.
 */
final class SimulationColdStart {
    /** Minimum length of a window. A period is the time between two calls of {@link MissRatioCurve#decay}. */
    static final int WINDOW_PERIODS = 12;
    /** Minimum number of simulated requests in a window: the standard error of a hit ratio is then about 1 point. */
    static final int REQUESTS_MIN = 2000;
    /** Weight of earlier windows when a window ends. The figures mostly describe the latest window. */
    static final double WEIGHT_BEFORE = 0.1;

    private static final double CHANGE_MAX = 0.01;
    private static final double MISSES_MAX = 0.01;

    private CurveReport.Stage stage = CurveReport.Stage.REQUESTS;
    private int periods;
    private double @Nullable [] gainsBefore;

    CurveReport.Stage stage() {
        return stage;
    }

    boolean isOver() {
        return stage == CurveReport.Stage.READY;
    }

    /**
     * Ends a period.
     *
     * @param requests number of simulated requests in the window
     * @param hasEvicted whether the cache of the present size has evicted
     * @return whether a window ended and another one follows
     */
    boolean endPeriod(List<CurveReport.Point> points, double requests, boolean hasEvicted) {
        periods++;
        if (isOver() || periods < WINDOW_PERIODS || requests < REQUESTS_MIN) {
            return false;
        }
        periods = 0;
        double[] gains = gains(points);
        double[] before = gainsBefore;
        gainsBefore = gains;
        if (!hasEvicted && 1 - present(points).tinyLfu().requestHitRatio() >= MISSES_MAX) {
            stage = CurveReport.Stage.FILL;
        } else if (before == null || !isClose(before, gains)) {
            stage = CurveReport.Stage.CHANGE;
        } else {
            stage = CurveReport.Stage.READY;
        }
        return !isOver();
    }

    private static CurveReport.Point present(List<CurveReport.Point> points) {
        for (CurveReport.Point point : points) {
            if (point.scale() == 1) {
                return point;
            }
        }
        throw new IllegalArgumentException("the present size is not simulated");
    }

    /**
     * Returns the gain of each larger size: its hit ratio minus that of the present size, for the two policies that the
     * RAM tier may have.
     */
    private static double[] gains(List<CurveReport.Point> points) {
        CurveReport.Point present = present(points);
        double[] gains = new double[2 * points.size()];
        int count = 0;
        for (CurveReport.Point point : points) {
            if (point.scale() > 1) {
                gains[count++] =
                        point.tinyLfu().requestHitRatio() - present.tinyLfu().requestHitRatio();
                gains[count++] = point.lru().requestHitRatio() - present.lru().requestHitRatio();
            }
        }
        return Arrays.copyOf(gains, count);
    }

    private static boolean isClose(double[] before, double[] gains) {
        for (int i = 0; i < gains.length; i++) {
            if (Math.abs(gains[i] - before[i]) >= CHANGE_MAX) {
                return false;
            }
        }
        return true;
    }
}
