package io.millrace.bench.regress;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The limits of allocation and time of one benchmark. The time limit is a multiple of the time of
 * {@link YardstickBenchmark} in the same run, so that a budget is valid on other machines.
 *
 * @param bytes maximum bytes allocated per operation
 * @param multiple maximum time per operation, as a multiple of the yardstick's time; NaN for no time limit
 */
record Budget(double bytes, double multiple) {
    /** Tolerance of the allocation limit in bytes, because the profiler also counts allocations of other threads. */
    private static final double BYTES_TOLERANCE = 1;
    /** Text in a budget file for no time limit. */
    private static final String NO_TIME = "-";
    /**
     * Tolerance of the time limit, as a fraction, in addition to the measurement error. It is needed because inlining
     * differs between processes.
     */
    private static final double TIME_TOLERANCE = 0.25;

    /**
     * Parses lines of name, bytes and multiple, separated by blanks. Lines that begin with # are comments. A dash as
     * the multiple means no time limit.
     *
     * @throws IllegalArgumentException for an invalid line; the message contains the line
     */
    static Map<String, Budget> parse(List<String> lines) {
        Map<String, Budget> budgets = new TreeMap<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String[] parts = line.split("\\s+", -1);
            try {
                if (parts.length != 3) {
                    throw new NumberFormatException("parts: actual=" + parts.length + ", expected=3");
                }
                double multiple = parts[2].equals(NO_TIME) ? Double.NaN : Double.parseDouble(parts[2]);
                budgets.put(parts[0], new Budget(Double.parseDouble(parts[1]), multiple));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("line " + (i + 1) + ": " + line + ": " + e.getMessage(), e);
            }
        }
        return budgets;
    }

    /**
     * Returns the lines of a budget file with the results of this run as limits.
     *
     * @param timed whether the run measured times
     */
    static List<String> format(Map<String, Measured> measured, Measured yardstick, boolean timed) {
        List<String> lines = new ArrayList<>();
        measured.forEach((name, found) -> lines.add(String.format(
                Locale.ROOT,
                "%-60s %8.1f %8s",
                name,
                found.bytes(),
                timed ? String.format(Locale.ROOT, "%.3f", found.nanos() / yardstick.nanos()) : NO_TIME)));
        return lines;
    }

    /** Returns a copy without the time limit. */
    Budget withoutTime() {
        return new Budget(bytes, Double.NaN);
    }

    /** Returns the reason why the result exceeds the budget; null if it does not. */
    @Nullable
    String excess(Measured found, Measured yardstick) {
        if (found.bytes() > bytes + BYTES_TOLERANCE) {
            return String.format(Locale.ROOT, "allocates %.1f B/op, budget %.1f", found.bytes(), bytes);
        }
        double error = Double.isNaN(found.errorNanos()) ? 0 : found.errorNanos() / yardstick.nanos();
        double took = found.nanos() / yardstick.nanos();
        if (took - error > multiple * (1 + TIME_TOLERANCE)) {
            return String.format(
                    Locale.ROOT,
                    "takes %.3f +- %.3f of the yardstick's time, budget %.3f plus 25 %%",
                    took,
                    error,
                    multiple);
        }
        return null;
    }
}
