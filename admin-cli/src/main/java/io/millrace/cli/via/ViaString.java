package io.millrace.cli.via;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The diagnostic letters that one proxy has written into a Via field, with their meanings. The full format
 * of Millrace and of Traffic Server up to 3.x has 24 characters. Later Traffic Server versions omit the ICP letters, so
 * their full format has 22. The short format has 6 characters in all versions. Immutable.
 *
 * @param proxy name of the proxy, from the text before the brackets; empty for letters without brackets
 * @param text the letters as written in the field
 * @param letters each letter with its meaning
 */
public record ViaString(String proxy, String text, List<Letter> letters) {
    private static final ViaQuestion[] SHORT = {ViaQuestion.LOOKUP, ViaQuestion.SERVER, ViaQuestion.FILL};
    private static final ViaQuestion[] FULL = ViaQuestion.values();

    /**
     * The value of one position. Immutable.
     *
     * @param flag the lower-case letter that marks the position
     * @param letter the value: a capital letter, or a blank
     * @param question what the letter describes, such as {@code cache lookup}
     * @param means meaning of the letter
     */
    public record Letter(String flag, char letter, String question, String means) {}

    /**
     * Parses the letters of all proxies in a text. The text has letters only, or is a complete Via field with the
     * letters of each proxy in brackets.
     *
     * @throws IllegalArgumentException if the text has no valid letters; the message describes the problem
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

    /**
     * Returns the name of the proxy from the text before its letters: {@code 1.1 millrace} from
     * {@code Via: 1.1 millrace (Millrace }.
     */
    private static String proxy(String before) {
        String name = before;
        int comma = name.lastIndexOf(',');
        name = comma < 0 ? name : name.substring(comma + 1);
        int parenthesis = name.indexOf('(');
        name = (parenthesis < 0 ? name : name.substring(0, parenthesis)).strip();
        return name.regionMatches(true, 0, "via:", 0, 4) ? name.substring(4).strip() : name;
    }

    private static ViaString of(String proxy, String letters) {
        for (ViaQuestion[] format : new ViaQuestion[][] {FULL, SHORT}) {
            for (boolean withIcp : new boolean[] {true, false}) {
                List<Letter> read = read(letters, format, withIcp);
                if (read != null) {
                    return new ViaString(proxy, letters, List.copyOf(read));
                }
            }
        }
        throw new IllegalArgumentException("no letters of Via: '" + letters
                + "' (they look like uScHs f p eN:t cCHi p s , the same without i, or cHs f )");
    }

    /**
     * Parses letters in one format; returns null if they do not have that format. The last blank may be missing, since
     * it is easily lost in copying.
     */
    private static @Nullable List<Letter> read(String letters, ViaQuestion[] format, boolean withIcp) {
        List<Letter> read = new ArrayList<>();
        String rest = letters + (letters.endsWith(" ") ? "" : " ");
        int at = 0;
        for (ViaQuestion question : format) {
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
            // The result is the second letter after the flag c.
            String flag = question == ViaQuestion.RESULT ? "c" : question.flag();
            read.add(new Letter(flag, letter, question.question(), question.answer(letter)));
        }
        return rest.substring(at).isBlank() ? read : null;
    }
}
