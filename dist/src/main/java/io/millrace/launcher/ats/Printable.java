package io.millrace.launcher.ats;

/** What comes from files, made fit for a terminal and for comments. */
final class Printable {
    private Printable() {}

    /** Control characters, and what turns the direction of writing, become question marks. */
    static String text(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints()
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? '?' : c)
                .forEach(clean::appendCodePoint);
        return clean.toString();
    }

    /** At most so many characters, with dots at the end of what is cut. */
    static String cut(String text, int length) {
        String clean = text(text);
        return clean.length() <= length ? clean : clean.substring(0, length - 3) + "...";
    }
}
