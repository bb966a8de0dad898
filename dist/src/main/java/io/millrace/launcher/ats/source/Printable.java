package io.millrace.launcher.ats.source;

/** What comes from files, made fit for a terminal and for comments. */
public final class Printable {
    private Printable() {}

    /** Control characters, what turns the direction of writing, and what is no character become question marks. */
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

    /** At most this many characters, with dots at the end of what is cut. */
    public static String cut(String text, int length) {
        String clean = text(text);
        return clean.length() <= length ? clean : clean.substring(0, length - 3) + "...";
    }
}
