package io.millrace.cli.render;

/** Text that came over a wire, made safe to print: an origin's field values must not steer the operator's terminal. */
final class Printable {
    private Printable() {}

    /** {@code text} in one line, control and bidirectional formatting characters escaped. */
    static String of(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (!isHarmless(text.charAt(i))) {
                return escaped(text);
            }
        }
        return text;
    }

    private static String escaped(String text) {
        StringBuilder safe = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (isHarmless(character)) {
                safe.append(character);
            } else {
                String digits = Integer.toHexString(character);
                safe.append("\\u").append("0".repeat(4 - digits.length())).append(digits);
            }
        }
        return safe.toString();
    }

    private static boolean isHarmless(char character) {
        return !Character.isISOControl(character)
                && !(character >= '\u200e' && character <= '\u200f')
                && !(character >= '\u2028' && character <= '\u202e')
                && !(character >= '\u2066' && character <= '\u2069');
    }
}
