package io.millrace.proxy.expression;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the language: the values of expressions, the positions of errors, and that the canonical form has the same
 * meaning.
 */
class ExpressionTest {
    private static Expression<Page> parse(String text) throws ExpressionException {
        return Expression.parse(text, Page.SCHEMA);
    }

    /** Each with its values for {@link Page#SAMPLE} and {@link Page#BARE}. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            quoteCharacter = '`',
            value = {
                // expression => sample => bare
                "host == \"a.example\" => true => false",
                "host == 'A.Example' => true => false",
                "host != 'a.example' => false => true",
                "host == 'b.example:8080' => false => true",
                "host in ('x', 'a.example') => true => false",
                "host =~ '^a\\.' => true => false",
                "host =~ 'example' => true => true",
                "type == 'image/png' => true => false",
                "type == 'Image/png' => false => false",
                "type != 'image/png' => false => true",
                "type =~ 'image/.*' => true => false",
                "type =~ '' => true => false",
                "!(type =~ '') => false => true",
                "status == 200 => true => false",
                "status != 200 => false => true",
                "status >= 400 => false => true",
                "status > 200 => false => true",
                "status < 404 => true => false",
                "status <= 404 => true => true",
                "status in (404, 410) => false => true",
                "size > 2M => true => false",
                "size == 3MiB => true => false",
                "size < 10M => true => false",
                "size != 3M => false => true",
                "!(size < 10M) => false => true",
                "size in (3M) => true => false",
                "age > 2d => true => false",
                "age < 1h30m => false => true",
                "age >= 1.5h => true => false",
                "age > 0 => true => true",
                "tag == 'archive' => true => false",
                "tag != 'archive' => false => true",
                "tag in ('x', 'post-17') => true => false",
                "tag =~ '^post-[0-9]+$' => true => false",
                "header['ETag'] == '\"x\"' => true => false",
                "header[\"etag\"] != '\"x\"' => false => true",
                "header['Vary'] =~ '' => false => false",
                // precedence
                "status == 200 || status == 404 && host == 'x' => true => false",
                "(status == 200 || status == 404) && host =~ 'example' => true => true",
                "!status == 200 => false => true",
                "!!(status == 200) && !(status == 404) => true => false",
                "  host=='a.example'&&age>2d  => true => false"
            })
    void holds(String text, boolean sample, boolean bare) throws ExpressionException {
        Expression<Page> expression = parse(text);
        assertEquals(sample, expression.test(Page.SAMPLE), text);
        assertEquals(bare, expression.test(Page.BARE), text);
        Expression<Page> again = parse(expression.toString());
        assertEquals(expression, again);
        assertEquals(expression.toString(), again.toString());
        assertEquals(expression.hashCode(), again.hashCode());
    }

    /** Each with its result for the values {@code x} and {@code y} of {@code type}. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            quoteCharacter = '`',
            value = {
                "type == 'x' => false",
                "type != 'x' => false",
                "type == 'z' => true",
                "type in ('x', 'y') => true",
                "type =~ '^[xy]$' => true",
                "type =~ 'x' => false",
                "host == 'a' => true",
                "type == 'x' || type == 'y' => true",
                "(type == 'x' || type == 'y') && host == 'a' => true",
                "!(type == 'x') && !(type == 'y') || host == 'a' => true",
                "type == 'x' && host == 'a' => false",
                "type == 'x' && host == 'a' || type == 'y' && host == 'b' => false",
                "type == 'x' && host == 'a' || type == 'y' && host == 'a' => true",
                "type == 'x' && host == 'a' && status == 1 || type == 'y' && status == 1 && host == 'a' => true",
                "type == 'x' && host == 'a' && status == 1 || type == 'y' && (status == 1 || host == 'a') => false",
                "type == 'x' && !(host == 'a') || type == 'y' && host == 'a' => false",
                "tag == 'x' => true",
                "header['type'] == 'x' => true",
            })
    void isTheSameForTwoValuesOfAField(String text, boolean same) throws ExpressionException {
        assertEquals(same, parse(text).isSameFor("type", "x", "y"), text);
        assertEquals(same, parse("!(" + text + ")").isSameFor("type", "y", "x"), text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            quoteCharacter = '`',
            value = {
                "hots == 'a' => 1:1: unknown field 'hots' (did you mean host?); known: host, type, status, size, age, tag, header",
                "status == 200 && Type == 'a' => 1:18: unknown field 'Type' (did you mean type?); known: host, type, status, size, age, tag, header",
                "qwertz == 1 => 1:1: unknown field 'qwertz'; known: host, type, status, size, age, tag, header",
                "host = 'a' => 1:6: a single '=' (did you mean ==?)",
                "host == 'a' & age > 1d => 1:13: a single '&' (did you mean &&?)",
                "host == 'a' and age > 1d => 1:13: expected && or || or the end, actual='and'",
                "host == 5 => 1:9: host is compared with a text in quotes, actual='5'",
                "host > 'a' => 1:6: host is a text, which has no '>' (operators: == != =~ in)",
                "status =~ '2..' => 1:8: status is an integer, which has no '=~' (operators: == != < <= > >= in)",
                "status == '200' => 1:11: status is compared with a whole number, actual=the text \"200\"",
                "status == 20x => 1:11: status: '20x' is not a whole number",
                "status == 99999999999999999999 => 1:11: status: '99999999999999999999' is too large",
                "age > 5 => 1:7: age: '5' has no unit; a duration is written like 30s (ms, s, m, h, d) (did you mean 5s?)",
                "age > 5D => 1:7: age: '5D' has the unknown unit 'D' (ms, s, m, h, d) (did you mean 5d?)",
                "age > -5d => 1:7: numbers have no sign",
                "size > 5 => 1:8: size: '5' has no unit; a size is written like 512MiB (B, KiB, MiB, GiB, TiB) (did you mean 5B?)",
                "host =~ '(' => 1:9: regular expression: error parsing regexp: missing closing ): `(`",
                "host == 'a => 1:9: the closing ' is missing",
                "host 'a' => 1:6: expected an operator after host (== != =~ in), actual=the text \"a\"",
                "host == => 1:8: host is compared with a text in quotes, actual=the end",
                "(host == 'a' => 1:13: expected ), actual=the end",
                "host == 'a') => 1:12: expected && or || or the end, actual=')'",
                "host in 'a' => 1:9: expected (, actual=the text \"a\"",
                "host in () => 1:10: host is compared with a text in quotes, actual=')'",
                "host in ('a' 'b') => 1:14: expected ), actual=the text \"b\"",
                "header == 'a' => 1:8: expected [, actual='=='",
                "header[etag] == 'a' => 1:8: expected a name in quotes for header[…], actual='etag'",
                "host['a'] == 'a' => 1:5: expected an operator after host (== != =~ in), actual='['",
                "'a' == host => 1:1: expected a field, ! or (, actual=the text \"a\"",
                "host == ; => 1:9: a character that belongs in quotes: ';'",
                "host == ä => 1:9: a character that belongs in quotes: U+00E4"
            })
    void errorsNameTheirPosition(String text, String message) {
        ExpressionException e = assertThrows(ExpressionException.class, () -> parse(text));
        assertEquals(message, e.message());
    }

    @Test
    void positionsCountLines() {
        ExpressionException e =
                assertThrows(ExpressionException.class, () -> parse("host == 'a' &&\n  (age > 2d ||\n  sise > 1M)"));
        assertEquals(3, e.line());
        assertEquals(3, e.column());
        ExpressionException empty = assertThrows(ExpressionException.class, () -> parse(""));
        assertEquals("1:1: expected a field, ! or (, actual=the end", empty.message());
        ExpressionException control = assertThrows(ExpressionException.class, () -> parse("host == 'a\nb'"));
        assertEquals("1:11: a control character in quotes: U+000A", control.message());
    }

    @Test
    void limits() throws ExpressionException {
        String deepest = "!(".repeat(Expression.NESTING_MAX) + "age > 1d" + ")".repeat(Expression.NESTING_MAX);
        assertEquals(
                "!".repeat(Expression.NESTING_MAX) + "(age > 1d)",
                parse(deepest).toString());
        refused("(" + deepest + ")", "nested more than 64 deep");
        refused("!".repeat(Expression.LENGTH_MAX), "nested more than 64 deep");
        String list = "status in (" + "1,".repeat(Expression.LITERALS_MAX - 1) + "1)";
        assertEquals(false, parse(list).test(Page.SAMPLE));
        refused(list + " || status == 1", "more than 1000 texts and numbers");
        String longest = "host == '" + "x".repeat(Expression.LENGTH_MAX - 10) + "'";
        assertEquals(Expression.LENGTH_MAX, longest.length());
        assertEquals(false, parse(longest).test(Page.SAMPLE));
        refused(longest + " ", "the expression has 8193 characters, limit=8192");
        refused("host =~ '(a{1000}){1000}'", "steps with its repetitions, the limit is 20000");
        refused("host =~ '(aaaaaaaaaaaa){1000}' || host =~ '(bbbbbbbbbbbb){1000}'", "together");
    }

    private static void refused(String text, String reason) {
        ExpressionException e = assertThrows(ExpressionException.class, () -> parse(text));
        assertEquals(true, e.message().contains(reason), e.message());
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            quoteCharacter = '`',
            value = {
                "host=='a\"b'||!age<1h30m => host == \"a\\\"b\" || !(age < 90m)",
                "host =~ '\\.a' => host =~ \"\\\\.a\"",
                "(host=='a')&&((age>1d)||((size>1024KiB))) => host == \"a\" && (age > 1d || size > 1MiB)",
                "(host=='a'&&age>1d)||size>0B => host == \"a\" && age > 1d || size > 0",
                "host=='a'&&(age>1d&&size>1B) => host == \"a\" && age > 1d && size > 1B",
                "status in(200,404) => status in (200, 404)",
                "header['X-A']=='b' => header[\"x-a\"] == \"b\""
            })
    void canonicalForm(String text, String canonical) throws ExpressionException {
        assertEquals(canonical, parse(text).toString());
    }

    @Test
    void expressionsDiffer() throws ExpressionException {
        assertNotEquals(parse("age > 1d"), parse("age >= 1d"));
        assertNotEquals(parse("host =~ 'a'"), parse("host =~ 'b'"));
        assertNotEquals(parse("host == 'a'"), parse("host in ('a')"));
    }

    /** Random trees: the text of each parses to an equal one with the same values. */
    @Test
    void canonicalFormParsesToTheSame() throws ExpressionException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            String text = any(random, 4);
            Expression<Page> expression = parse(text);
            Expression<Page> again = parse(expression.toString());
            assertEquals(expression, again, () -> "seed=" + seed + " " + text);
            for (Page page : List.of(Page.SAMPLE, Page.BARE)) {
                assertEquals(expression.test(page), again.test(page), () -> "seed=" + seed + " " + text);
                assertEquals(model(text, page), expression.test(page), () -> "seed=" + seed + " " + text);
            }
        }
    }

    /** With fields unknown, what could hold is what holds for one of their values. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            quoteCharacter = '`',
            value = {
                "size > 1M => true",
                "!(size > 1M) => true",
                "host == 'a.example' && size > 9M => true",
                "host == 'x' && size > 1M => false",
                "host == 'x' || size > 9M => true",
                "!(host == 'a.example' || size > 9M) => false",
                "!(host == 'a.example' && size > 9M) => true",
                "!(host == 'x' && size > 9M) => true",
                "host == 'a.example' && !(size > 1M && status == 404) => true",
                "host == 'a.example' && (size > 1M && status == 404) => false"
            })
    void couldHold(String text, boolean could) throws ExpressionException {
        assertEquals(
                could, parse(text).couldHold(Page.SAMPLE, field -> field.name().equals("size")), text);
    }

    private static final List<String> COMPARISONS = List.of(
            "host == 'a.example'", "type =~ 'png'", "age > 2d", "size in (1B, 3M)", "tag != 'archive'", "status < 300");

    private static String any(Random random, int depth) {
        int kind = depth == 0 ? 0 : random.nextInt(4);
        if (kind == 0) {
            return COMPARISONS.get(random.nextInt(COMPARISONS.size()));
        }
        if (kind == 1) {
            return "!(" + any(random, depth - 1) + ")";
        }
        List<String> parts = new ArrayList<>();
        for (int i = 2 + random.nextInt(2); i > 0; i--) {
            parts.add("(" + any(random, depth - 1) + ")");
        }
        return String.join(kind == 2 ? " && " : " || ", parts);
    }

    /** Evaluates a text that {@link #any} created: everything except comparisons and {@code !} is in parentheses. */
    private static boolean model(String text, Page page) throws ExpressionException {
        if (COMPARISONS.contains(text)) {
            return parse(text).test(page);
        }
        if (text.startsWith("!(")) {
            return !model(text.substring(2, text.length() - 1), page);
        }
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int at = 0; at < text.length(); at++) {
            depth += text.charAt(at) == '(' ? 1 : text.charAt(at) == ')' ? -1 : 0;
            if (depth == 1 && text.charAt(at) == '(') {
                from = at + 1;
            } else if (depth == 0 && text.charAt(at) == ')') {
                parts.add(text.substring(from, at));
            }
        }
        int end = 1 + parts.get(0).length() + 1;
        boolean isAll = text.startsWith(" && ", end);
        boolean result = isAll;
        for (String part : parts) {
            result = isAll ? result && model(part, page) : result || model(part, page);
        }
        return result;
    }
}
