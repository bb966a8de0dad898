package io.millrace.cli.render;

import java.nio.charset.StandardCharsets;

/** Makes received text safe to print, since it could contain escape sequences for a terminal. Stateless. */
public final class Printable {
    private Printable() {}

    /** Returns text in one line. Control characters and invisible characters are escaped as in JSON. */
    public static String of(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (!isHarmless(text.charAt(i))) {
                return escaped(text);
            }
        }
        return text;
    }

    /**
     * Returns equivalent JSON in UTF-8 in which the same characters are escaped. This is needed, since JSON allows
     * unescaped control characters from 0x7f.
     */
    public static byte[] json(byte[] json) {
        String text = new String(json, StandardCharsets.UTF_8);
        for (int i = 0; i < text.length(); i++) {
            if (!isHarmless(text.charAt(i)) && !isBetweenTokens(text.charAt(i))) {
                return escapedJson(text).getBytes(StandardCharsets.UTF_8);
            }
        }
        return json;
    }

    /** Returns true for white space that JSON allows between tokens. JSON strings do not contain it unescaped. */
    private static boolean isBetweenTokens(char character) {
        return character == '\n' || character == '\r' || character == '\t';
    }

    private static String escapedJson(String text) {
        StringBuilder safe = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (isHarmless(character) || isBetweenTokens(character)) {
                safe.append(character);
            } else {
                append(safe, character);
            }
        }
        return safe.toString();
    }

    private static String escaped(String text) {
        StringBuilder safe = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (isHarmless(character)) {
                safe.append(character);
            } else {
                append(safe, character);
            }
        }
        return safe.toString();
    }

    private static void append(StringBuilder safe, char character) {
        String digits = Integer.toHexString(character);
        safe.append("\\u").append("0".repeat(4 - digits.length())).append(digits);
    }

    private static boolean isHarmless(char character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
