package io.millrace.proxy.purge;

import io.millrace.proxy.caching.tags.TagList;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Recognises regular expressions that only list tags, as content management systems send them to Varnish. A purge of
 * the listed tags replaces the purge by pattern. All other expressions remain patterns.
 *
 * <pre>
 *   ((^|,)cat_p_1(,|$))|((^|,)cat_p_2(,|$))   Magento, API Platform
 *   (^|,)(post\-1|post\-2)(,|$)               FOSHttpCache, API Platform, Proxy Cache Purge
 *   node:1 node:2, node:1|node:2              Drupal, fields with words only
 * </pre>
 *
 * Confined to one thread.
 */
final class TagExpression {
    private static final String SPECIAL = ".*+?()[]{}|^$\\, \t";
    /** Characters that make a word an expression. A dot alone does not: names of Drupal's tags contain dots. */
    private static final String NOT_IN_WORDS = "*+?()[]{}^$\\,\t";

    private static final List<String> STARTS = List.of("(^|,)", "(^|\\,)", "(?:^|,)");
    private static final List<String> ENDS = List.of("(,|$)", "($|,)", "(\\,|$)", "($|\\,)", "(?:,|$)", "(?:$|,)");

    private final String text;
    private final List<String> tags = new ArrayList<>();
    private int at;

    private TagExpression(String text) {
        this.text = text;
    }

    /**
     * Returns the tags that an expression lists; null if it is another expression.
     *
     * @param words whether the expression may consist of words, separated by spaces or {@code |}
     */
    static @Nullable TagList tags(String text, boolean words) {
        List<String> found = words ? words(text) : null;
        if (found == null) {
            TagExpression expression = new TagExpression(text);
            found = expression.isList() ? expression.tags : null;
        }
        if (found == null) {
            return null;
        }
        TagList list = new TagList();
        for (String tag : found) {
            byte[] bytes = tag.getBytes(StandardCharsets.ISO_8859_1);
            list.addOne(bytes, 0, bytes.length);
        }
        return list;
    }

    private static @Nullable List<String> words(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (NOT_IN_WORDS.indexOf(text.charAt(i)) >= 0) {
                return null;
            }
        }
        List<String> found = new ArrayList<>();
        for (String word : text.split("[ |]+", -1)) {
            if (word.equals(".")) {
                return null;
            }
            if (!word.isEmpty()) {
                found.add(word);
            }
        }
        return found.isEmpty() ? null : found;
    }

    private boolean isList() {
        do {
            if (!anchored()) {
                return false;
            }
        } while (skip("|"));
        return at == text.length();
    }

    /** Reads one tag or a group of tags between the separators of a list, possibly in parentheses. */
    private boolean anchored() {
        if (skipAny(STARTS)) {
            return literalOrGroup() && skipAny(ENDS);
        }
        return skip("(") && skipAny(STARTS) && literalOrGroup() && skipAny(ENDS) && skip(")");
    }

    private boolean literalOrGroup() {
        return skip("(") ? literals() && skip(")") : literal();
    }

    private boolean literals() {
        do {
            if (!literal()) {
                return false;
            }
        } while (skip("|"));
        return true;
    }

    private boolean literal() {
        StringBuilder tag = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '\\' && at + 1 < text.length() && isEscapable(text.charAt(at + 1))) {
                at++;
                tag.append(text.charAt(at));
            } else if (SPECIAL.indexOf(c) < 0) {
                tag.append(c);
            } else {
                break;
            }
            at++;
        }
        if (tag.isEmpty()) {
            return false;
        }
        tags.add(tag.toString());
        return true;
    }

    /** Returns true if a backslash makes the character literal, and a tag can contain it. */
    private static boolean isEscapable(char c) {
        return c > ' ' && c < 127 && c != ',' && !Character.isLetterOrDigit(c);
    }

    private boolean skip(String expected) {
        boolean found = text.startsWith(expected, at);
        at += found ? expected.length() : 0;
        return found;
    }

    private boolean skipAny(List<String> expected) {
        for (String each : expected) {
            if (skip(each)) {
                return true;
            }
        }
        return false;
    }
}
