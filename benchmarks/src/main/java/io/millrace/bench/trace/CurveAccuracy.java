package io.millrace.bench.trace;

import io.millrace.store.curve.CurveReport;
import io.millrace.store.curve.MissRatioCurve;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares the miss-ratio curve with full simulations of the same sizes, for traces.
 *
 * <pre>
 *   java -cp benchmarks.jar io.millrace.bench.trace.CurveAccuracy FILE…
 * </pre>
 *
 * The present cache size is {@value #PRESENT_PERCENT} % of the total size of the objects. The curve simulates sizes
 * from a quarter of the present size to eight times the present size.
 */
public final class CurveAccuracy {
    static final int PRESENT_PERCENT = 5;
    private static final byte[] NO_KEY = {};

    private CurveAccuracy() {}

    /**
     * One cache size: the hit ratios of the estimate and of the full simulation, in percent of the requests.
     *
     * @param trace name of the trace
     * @param scale multiple of the present size
     * @param rate sample rate of the estimate
     * @param current estimate for the policy of the RAM tier
     * @param full full simulation of the policy of the RAM tier
     * @param lru estimate for LRU
     * @param fullLru full simulation of LRU
     */
    record Comparison(
            String trace, double scale, double rate, double current, double full, double lru, double fullLru) {
        /** Returns the error for the policy of the RAM tier, in percentage points. */
        double error() {
            return Math.abs(current - full);
        }

        double errorOfLru() {
            return Math.abs(lru - fullLru);
        }
    }

    /** Prints a line for each file and size, and the mean errors. */
    public static void main(String[] arguments) throws IOException {
        List<Comparison> all = new ArrayList<>();
        for (String file : arguments) {
            all.addAll(compare(Trace.read(Path.of(file))));
        }
        for (Comparison one : all) {
            System.out.println(one);
        }
        System.out.println("mean error in points: " + mean(all, false) + ", LRU: " + mean(all, true));
    }

    static double mean(List<Comparison> all, boolean lru) {
        return all.stream()
                .mapToDouble(one -> lru ? one.errorOfLru() : one.error())
                .average()
                .orElse(0);
    }

    static List<Comparison> compare(Trace trace) {
        long present = trace.footprint() * PRESENT_PERCENT / 100;
        MissRatioCurve curve = new MissRatioCurve(present, key -> "all");
        long sampled = 0;
        long start = System.nanoTime();
        for (int n = 0; n < trace.length(); n++) {
            int object = trace.request(n);
            long hash = hash(object);
            sampled += hash < curve.threshold() ? 1 : 0;
            curve.request(hash, trace.size(object), NO_KEY);
        }
        long nanos = System.nanoTime() - start;
        System.out.println(trace.name() + ": " + nanos / Math.max(1, sampled) + " ns per sampled request");
        curve.expect(trace.length());
        List<Comparison> comparisons = new ArrayList<>();
        for (CurveReport.Point point : curve.report(0).points()) {
            comparisons.add(new Comparison(
                    trace.name(),
                    point.scale(),
                    curve.sampleRate(),
                    point.tinyLfu().requestHitRatio() * 100,
                    ReferencePolicy.CAFFEINE.replay(trace, point.bytes()).objects(),
                    point.lru().requestHitRatio() * 100,
                    ReferencePolicy.LRU.replay(trace, point.bytes()).objects()));
        }
        return comparisons;
    }

    /** Returns an evenly distributed hash (SplitMix64). */
    private static long hash(long object) {
        long z = (object + 1) * 0x9E37_79B9_7F4A_7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }
}
