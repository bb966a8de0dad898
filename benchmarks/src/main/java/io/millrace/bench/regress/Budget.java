package io.millrace.bench.regress;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a benchmark may take. Its time is a multiple of the yardstick's in the same run, so that a budget written on one machine
 * serves on another.
 *
 * @param bytes allocated by an operation
 * @param multiple of the yardstick's time; NaN where time has no budget
 */
record Budget(double bytes, double multiple) {
    /** Bytes by which allocation may be above the budget: what profilers see of threads that are none of ours. */
    private static final double BYTES_SPARED = 1;
    /** Stands for a multiple that is not there. */
    private static final String NO_TIME = "-";
    /** Part by which time may be above the budget, beside its error: compilers do not inline alike in every process. */
    private static final double TIME_SPARED = 0.25;

    /**
     * Reads lines of name, bytes and multiple, apart by blanks; those that begin with # are for people. A multiple of - is none.
     *
     * @throws IllegalArgumentException naming the line that is none
     */
    static Map<String, Budget> read(List<String> lines) {
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
     * The lines of budgets that this run would just meet.
     *
     * @param timed whether the run tells anything of time
     */
    static List<String> write(Map<String, Measured> measured, Measured yardstick, boolean timed) {
        List<String> lines = new ArrayList<>();
        measured.forEach((name, found) -> lines.add(String.format(
                Locale.ROOT,
                "%-60s %8.1f %8s",
                name,
                found.bytes(),
                timed ? String.format(Locale.ROOT, "%.3f", found.nanos() / yardstick.nanos()) : NO_TIME)));
        return lines;
    }

    /** The same budget for allocation alone. */
    Budget withoutTime() {
        return new Budget(bytes, Double.NaN);
    }

    /** Why it is exceeded; null when it is kept. */
    @Nullable
    String excess(Measured found, Measured yardstick) {
        if (found.bytes() > bytes + BYTES_SPARED) {
            return String.format(Locale.ROOT, "allocates %.1f B/op, budget %.1f", found.bytes(), bytes);
        }
        double error = Double.isNaN(found.errorNanos()) ? 0 : found.errorNanos() / yardstick.nanos();
        double took = found.nanos() / yardstick.nanos();
        if (took - error > multiple * (1 + TIME_SPARED)) {
            return String.format(
                    Locale.ROOT,
                    "takes %.3f +- %.3f of the yardstick's time, budget %.3f and a quarter",
                    took,
                    error,
                    multiple);
        }
        return null;
    }
}
