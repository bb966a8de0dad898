package io.millrace.launcher.importing.source;

/** Makes text from files safe for output on terminals and in comments. Stateless. */
public final class Printable {
    private Printable() {}

    /** Replaces control characters, direction marks and code points that are not characters by question marks. */
    public static String text(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints().map(c -> isPrintable(c) ? c : '?').forEach(clean::appendCodePoint);
        return clean.toString();
    }

    private static boolean isPrintable(int c) {
        return !Character.isISOControl(c)
                && Character.getType(c) != Character.FORMAT
                && Character.getType(c) != Character.SURROGATE
                && (c & 0xfffe) != 0xfffe;
    }

    /** Limits a text to {@code length} characters. A text that is cut ends with three dots. */
    public static String cut(String text, int length) {
        String clean = text(text);
        return clean.length() <= length ? clean : clean.substring(0, length - 3) + "...";
    }
}
