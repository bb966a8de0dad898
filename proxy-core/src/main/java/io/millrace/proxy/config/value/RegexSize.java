package io.millrace.proxy.config.value;

/**
 * Estimates the size of a compiled regular expression from its text. The estimate is an upper bound for every
 * expression that the library accepts. Linear time, constant memory. Confined to one thread.
 */
final class RegexSize {
    /** Counters saturate at this value. */
    static final long SATURATED = 1_000_000_000;

    /** Upper bound of the steps that do not come from the text. RE2/J adds at most three: fail, match and no-op. */
    private static final int FIXED_STEPS = 4;

    private final String text;
    /** Steps before the last atom, by nesting depth. */
    private final long[] sumSteps = new long[Regex.NESTING_MAX + 2];
    /** Branches before the last atom, by nesting depth. */
    private final long[] sumBranches = new long[Regex.NESTING_MAX + 2];
    /** Steps of the last atom, by nesting depth. */
    private final long[] lastSteps = new long[Regex.NESTING_MAX + 2];
    /** Branches of the last atom, by nesting depth. */
    private final long[] lastBranches = new long[Regex.NESTING_MAX + 2];
    /** Index of the next character. */
    private int at;

    private int depth;
    /** Depth of the deepest group so far. */
    private int nesting;

    RegexSize(String text) {
        this.text = text;
    }

    /** Measures the text. Stops early if groups are nested too deeply. */
    void measure() {
        while (at < text.length() && nesting <= Regex.NESTING_MAX) {
            char c = text.charAt(at++);
            switch (c) {
                case '(' -> open();
                case ')' -> close();
                case '|' -> alternative();
                case '*', '+', '?' -> add(1, 1);
                case '{' -> repeat();
                case '[' -> {
                    skipClass();
                    atom(1, 0);
                }
                case '\\' -> escape();
                case '^', '$' -> atom(1, 1);
                default -> atom(1, 0);
            }
        }
        while (depth > 0) {
            close();
        }
    }

    /** Returns an upper bound of the program's steps. */
    long steps() {
        return Math.min(SATURATED, FIXED_STEPS + sumSteps[0] + lastSteps[0]);
    }

    /** Returns an upper bound of the steps that read no character. */
    long branches() {
        return Math.min(SATURATED, FIXED_STEPS + sumBranches[0] + lastBranches[0]);
    }

    /** Returns the nesting depth of the deepest group. */
    int nesting() {
        return nesting;
    }

    /** Begins the next atom, to which a repetition may apply. */
    private void atom(long steps, long branches) {
        sumSteps[depth] = Math.min(SATURATED, sumSteps[depth] + lastSteps[depth]);
        sumBranches[depth] = Math.min(SATURATED, sumBranches[depth] + lastBranches[depth]);
        lastSteps[depth] = steps;
        lastBranches[depth] = branches;
    }

    /** Adds to the last atom. */
    private void add(long steps, long branches) {
        lastSteps[depth] = Math.min(SATURATED, lastSteps[depth] + steps);
        lastBranches[depth] = Math.min(SATURATED, lastBranches[depth] + branches);
    }

    private void alternative() {
        atom(1, 1);
        atom(1, 1);
    }

    private void open() {
        if (at < text.length() && text.charAt(at) == '?') {
            int i = at + 1;
            while (i < text.length() && ":)<".indexOf(text.charAt(i)) < 0) {
                i++;
            }
            if (i < text.length() && text.charAt(i) == '<') {
                i = Math.max(i, text.indexOf('>', i));
            }
            at = Math.min(text.length(), i + 1);
            if (i < text.length() && text.charAt(i) == ')') {
                // Inline flags such as (?i) do not open a group.
                return;
            }
        }
        if (++depth > nesting) {
            nesting = depth;
        }
        sumSteps[depth] = 0;
        sumBranches[depth] = 0;
        lastSteps[depth] = 0;
        lastBranches[depth] = 0;
    }

    private void close() {
        if (depth == 0) {
            return;
        }
        long steps = Math.min(SATURATED, sumSteps[depth] + lastSteps[depth] + 2);
        long branches = Math.min(SATURATED, sumBranches[depth] + lastBranches[depth] + 2);
        depth--;
        atom(steps, branches);
    }

    /** Parses {@code {n}}, {@code {n,}} and {@code {n,m}}; any other brace is a literal character. */
    private void repeat() {
        int end = text.indexOf('}', at);
        int comma = text.indexOf(',', at);
        boolean isRange = comma >= 0 && comma < end;
        long least = end < 0 ? -1 : number(at, isRange ? comma : end);
        long most = isRange && comma + 1 < end ? number(comma + 1, end) : least;
        if (least < 0 || most < 0) {
            atom(1, 0);
            return;
        }
        long copies = Math.max(1, Math.max(least, most));
        // Each optional copy has a branch of its own.
        long branchPerCopy = isRange ? 1 : 0;
        lastSteps[depth] = Math.min(SATURATED, copies * (lastSteps[depth] + branchPerCopy));
        lastBranches[depth] = Math.min(SATURATED, copies * (lastBranches[depth] + branchPerCopy));
        at = end + 1;
    }

    /** Parses digits; returns -1 for anything else. The library refuses more than four digits. */
    private long number(int from, int to) {
        if (to <= from || to - from > 9) {
            return -1;
        }
        long number = 0;
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            number = number * 10 + c - '0';
        }
        return number;
    }

    private void escape() {
        if (at == text.length()) {
            return;
        }
        char c = text.charAt(at++);
        if (c == 'Q') {
            int end = text.indexOf("\\E", at);
            int to = end < 0 ? text.length() : end;
            for (; at < to; at++) {
                atom(1, 0);
            }
            at = end < 0 ? to : to + 2;
            return;
        }
        boolean hasName = c == 'p' || c == 'P' || c == 'x';
        if (hasName && at < text.length() && text.charAt(at) == '{') {
            at = Math.max(at, text.indexOf('}', at)) + 1;
        }
        atom(1, "AbBzZ".indexOf(c) >= 0 ? 1 : 0);
    }

    private void skipClass() {
        if (at < text.length() && text.charAt(at) == '^') {
            at++;
        }
        boolean first = true;
        while (at < text.length() && (first || text.charAt(at) != ']')) {
            first = false;
            char c = text.charAt(at++);
            int named = c == '[' && at < text.length() && text.charAt(at) == ':' ? text.indexOf(":]", at + 1) : -1;
            if (named >= 0) {
                at = named + 2;
            } else if (c == '\\') {
                at++;
            }
        }
        at++;
    }
}
