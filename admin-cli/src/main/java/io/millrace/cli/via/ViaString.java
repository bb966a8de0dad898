package io.millrace.cli.via;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The letters of one proxy in Via: the full form of Millrace and of Traffic Server up to 3.x (24 characters), that of Traffic Server
 * without the letters of ICP (22), or the short one of both (6). Immutable.
 *
 * @param proxy what stands before the brackets; empty where the letters came alone
 * @param text the letters
 * @param letters each with what it means
 */
public record ViaString(String proxy, String text, List<Letter> letters) {
    private static final ViaQuestion[] SHORT = {ViaQuestion.LOOKUP, ViaQuestion.SERVER, ViaQuestion.FILL};
    private static final ViaQuestion[] FULL = ViaQuestion.values();

    /**
     * One answer. Immutable.
     *
     * @param flag the small letters that it is known by
     * @param letter the answer, a blank for none
     * @param asks what is asked
     * @param means what the letter says
     */
    public record Letter(String flag, char letter, String asks, String means) {}

    /**
     * Reads all that a text has: the letters alone, or whole values of Via with letters in brackets.
     *
     * @throws IllegalArgumentException if there are none; its message says what is wrong
     */
    public static List<ViaString> parse(String text) {
        List<ViaString> found = new ArrayList<>();
        int start = 0;
        for (int open = text.indexOf('['); open >= 0; open = text.indexOf('[', start)) {
            int close = text.indexOf(']', open);
            if (close < 0) {
                throw new IllegalArgumentException("the bracket is not closed: " + text.substring(open));
            }
            found.add(of(proxy(text.substring(start, open)), text.substring(open + 1, close)));
            start = close + 1;
        }
        if (found.isEmpty()) {
            found.add(of("", text));
        }
        return List.copyOf(found);
    }

    /** {@code 1.1 millrace} of {@code Via: 1.1 millrace (Millrace }. */
    private static String proxy(String before) {
        String name = before;
        int comma = name.lastIndexOf(',');
        name = comma < 0 ? name : name.substring(comma + 1);
        int parenthesis = name.indexOf('(');
        name = (parenthesis < 0 ? name : name.substring(0, parenthesis)).strip();
        return name.regionMatches(true, 0, "via:", 0, 4) ? name.substring(4).strip() : name;
    }

    private static ViaString of(String proxy, String letters) {
        for (ViaQuestion[] form : new ViaQuestion[][] {FULL, SHORT}) {
            for (boolean withIcp : new boolean[] {true, false}) {
                List<Letter> read = read(letters, form, withIcp);
                if (read != null) {
                    return new ViaString(proxy, letters, List.copyOf(read));
                }
            }
        }
        throw new IllegalArgumentException("no letters of Via: '" + letters
                + "' (they look like uScHs f p eN:t cCHi p s , the same without i, or cHs f )");
    }

    /** Null when it is not that form; the last blank may be missing, as it easily is when it is copied. */
    private static @Nullable List<Letter> read(String letters, ViaQuestion[] form, boolean withIcp) {
        List<Letter> read = new ArrayList<>();
        String rest = letters + (letters.endsWith(" ") ? "" : " ");
        int at = 0;
        for (ViaQuestion question : form) {
            if (question == ViaQuestion.ICP && !withIcp) {
                continue;
            }
            if (question == ViaQuestion.TUNNEL && rest.startsWith(":", at)) {
                at++;
            }
            if (!rest.startsWith(question.flag(), at)) {
                return null;
            }
            at += question.flag().length();
            if (at >= rest.length()) {
                return null;
            }
            char letter = rest.charAt(at++);
            if (letter != ' ' && (letter < 'A' || letter > 'Z')) {
                return null;
            }
            String flag = question == ViaQuestion.RESULT ? "c" : question.flag();
            read.add(new Letter(flag, letter, question.question(), question.answer(letter)));
        }
        return rest.substring(at).isBlank() ? read : null;
    }
}
