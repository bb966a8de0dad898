package io.millrace.proxy.config.value;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Finds the known word that is most similar to a mistyped one. The measure is the edit distance with transpositions
 * (optimal string alignment).
 */
public final class Suggestions {
    /** Longest word that is compared, since the time grows with the product of both lengths. Every key is shorter. */
    private static final int LENGTH_MAX = 200;

    private Suggestions() {}

    /** Returns the most similar candidate; null if none is similar enough. */
    public static @Nullable String closest(String typed, Collection<String> candidates) {
        if (typed.length() > LENGTH_MAX) {
            return null;
        }
        @Nullable String best = null;
        int bestDistance = Integer.MAX_VALUE;
        for (String candidate : candidates) {
            int distance = distance(typed, candidate);
            if (distance < bestDistance) {
                best = candidate;
                bestDistance = distance;
            }
        }
        // One error is always tolerated; longer words may have one error for each three letters.
        return best != null && bestDistance <= Math.max(1, (Math.max(typed.length(), best.length()) + 1) / 3)
                ? best
                : null;
    }

    public static int distance(String a, String b) {
        int[][] rows = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            rows[i][0] = i;
        }
        for (int j = 0; j <= b.length(); j++) {
            rows[0][j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            for (int j = 1; j <= b.length(); j++) {
                int substitution = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                int best = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1);
                best = Math.min(best, rows[i - 1][j - 1] + substitution);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    best = Math.min(best, rows[i - 2][j - 2] + 1);
                }
                rows[i][j] = best;
            }
        }
        return rows[a.length()][b.length()];
    }
}
