package io.millrace.launcher.squid;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A value of a header field in squid.conf: one word, or words in quotation marks with escaped characters.
 *
 * @param text the value, without quotation marks and escapes
 * @param words number of words of the line that the value takes
 * @param isQuoted whether the value was in quotation marks
 */
record FieldValue(String text, int words, boolean isQuoted) {

    /** Returns the value at the start of {@code words}. Returns null if its second quotation mark is missing. */
    static @Nullable FieldValue of(List<String> words) {
        String first = words.isEmpty() ? "" : words.get(0);
        if (!first.startsWith("\"")) {
            return new FieldValue(first, Math.min(1, words.size()), false);
        }
        String source = String.join(" ", words);
        StringBuilder text = new StringBuilder();
        int spaces = 0;
        for (int i = 1; i < source.length(); i++) {
            char c = source.charAt(i);
            if (c == '"') {
                boolean endsWord = i + 1 == source.length() || source.charAt(i + 1) == ' ';
                return endsWord ? new FieldValue(text.toString(), spaces + 1, true) : null;
            }
            if (c == '\\' && i + 1 < source.length()) {
                i++;
                c = source.charAt(i);
            }
            spaces += source.charAt(i) == ' ' ? 1 : 0;
            text.append(c);
        }
        return null;
    }
}
