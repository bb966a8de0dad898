package io.millrace.proxy.esi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the parser with a table of documents and with random ones. */
class EsiParserTest {
    private static final int INCLUDES_MAX = 5;

    private static EsiDocument parse(String text) throws EsiSyntaxException {
        return EsiParser.parse(text.getBytes(StandardCharsets.UTF_8), INCLUDES_MAX);
    }

    /** Returns the parts as text: {@code [src alt ?]} for an include, {@code {attempt|except}} for a try. */
    private static String shape(byte[] bytes, List<EsiPart> parts) {
        StringBuilder text = new StringBuilder();
        for (EsiPart part : parts) {
            if (part instanceof EsiPart.Text at) {
                text.append(new String(bytes, at.start(), at.end() - at.start(), StandardCharsets.UTF_8));
            } else if (part instanceof EsiPart.Include include) {
                text.append('[').append(include.src());
                text.append(include.alt() == null ? "" : " " + include.alt());
                text.append(include.isOptional() ? " ?]" : "]");
            } else if (part instanceof EsiPart.Try either) {
                text.append('{').append(shape(bytes, either.attempt()));
                text.append('|').append(shape(bytes, either.except())).append('}');
            }
        }
        return text.toString();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "plain <b>text</b> # plain <b>text</b>",
                "a<esi:include src=\"/f\"/>b # a[/f]b",
                "<esi:include src='/f' /> # [/f]",
                "<esi:include src=\"/f\"></esi:include>b # [/f]b",
                "<esi:include src=\"/f\">b # [/f]b",
                "<esi:include alt=\"/g\" src = \"/f?a=1&amp;b=2\" onerror=\"continue\"/> # [/f?a=1&b=2 /g ?]",
                "<esi:include src='/&amp;lt;' ttl='5m'/> # [/&lt;]",
                "<a href=\"<esi:include src='/f'/>\">x</a> # <a href=\"[/f]\">x</a>",
                "a<esi:remove>x<b>y</esi:remove >z # az",
                "a<esi:remove/>z # az",
                "a<esi:remove>x<esi:include src='/f'/></esi:remove>z # az",
                "a<esi:comment text=\"why\"/>z # az",
                "a<!--esi b<esi:include src='/f'/>c-->d # a b[/f]cd",
                "a<!-- <esi:include src='/f'/> -->d # a<!-- [/f] -->d",
                "a<!--esimate-->d # a<!--esimate-->d",
                "a-->b # a-->b",
                "<!--esi a--> b --> # ` a b -->`",
                "<ESI:include src='/f'/> # <ESI:include src='/f'/>",
                "<esi # <esi",
                "<esi:try> x <esi:attempt>a<esi:include src='/f'/></esi:attempt> <esi:except>b</esi:except></esi:try>c"
                        + " # {a[/f]|b}c",
                "<esi:try><esi:except>b</esi:except><esi:comment text=''/><esi:attempt/></esi:try> # {|b}",
                "<esi:try><esi:attempt><esi:try><esi:attempt>a</esi:attempt><esi:except>b</esi:except></esi:try>"
                        + "</esi:attempt><esi:except>c</esi:except></esi:try> # {{a|b}|c}",
                "<!--esi <esi:try>--><!--esi <esi:attempt>a</esi:attempt><esi:except>b</esi:except></esi:try> --> # ` {a|b} `"
            })
    void documents(String document, String expected) throws EsiSyntaxException {
        EsiDocument parsed = parse(document);
        assertEquals(expected, shape(parsed.bytes(), parsed.parts()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "a<esi:include/> # esi-markup # 1:2: <esi:include> has no src",
                "<esi:include src=' '/> # esi-markup # 1:1: <esi:include> has no src",
                "<esi:include src=/f/> # esi-markup # 1:1: the value of the attribute src is not in quotation marks",
                "<esi:include src='/f # esi-markup # 1:1: the value of the attribute src has no end",
                "<esi:include src/> # esi-markup # 1:1: the attribute src has no value",
                "<esi:include src='/f' # esi-markup # 1:1: <esi:include has no >",
                "<esi:include src='/f'src='/g'/> # esi-markup # 1:22: a character that is not allowed in <esi:include>",
                "<esi:include src='/f' src='/g'/> # esi-markup # 1:23: a second attribute src",
                "<esi:include src='/f' onerror='stop'/> # esi-markup # 1:1: the only permitted value of onerror is continue",
                "<esi:include src='/$(QUERY_STRING)'/> # esi-unsupported"
                        + " # 1:1: variables such as $(HTTP_HOST) are not supported",
                "<esi:vars>$(HTTP_HOST)</esi:vars> # esi-unsupported # 1:1: <esi:vars> is not supported",
                "<p><esi:choose> # esi-unsupported # 1:4: <esi:choose> is not supported",
                "<esi:inlcude src='/f'/> # esi-markup # 1:1: <esi:inlcude> is no element of ESI 1.0",
                "<esi:remove>x # esi-markup # 1:1: <esi:remove> has no end tag",
                "<esi:remove>x</esi:removed> # esi-markup # 1:1: <esi:remove> has no end tag",
                "</esi:remove> # esi-markup # 1:1: </esi:remove> closes no element",
                "<esi:attempt>x</esi:attempt> # esi-markup # 1:1: <esi:attempt> is not in <esi:try>",
                "<esi:try><esi:attempt>x</esi:attempt></esi:try> # esi-markup"
                        + " # 1:1: <esi:try> needs <esi:attempt> and <esi:except>",
                "<esi:try><esi:attempt>x # esi-markup # 1:10: <esi:attempt> has no end tag",
                "<esi:try> # esi-markup # 1:1: <esi:try> has no end tag",
                "<esi:try></esi:attempt> # esi-markup # 1:10: </esi:attempt> in <esi:try>",
                "<esi:try><esi:include src='/f'/> # esi-markup"
                        + " # 1:10: unexpected <esi:include> in <esi:try>, which has one attempt and one except",
                "x<!--esi y # esi-markup # 1:2: <!--esi has no -->",
                "<!--esi <!--esi --> # esi-markup # 1:9: <!--esi in another <!--esi",
            })
    void faultyDocuments(String document, String reason, String message) {
        EsiSyntaxException fault = assertThrows(EsiSyntaxException.class, () -> parse(document));
        assertEquals(message, fault.getMessage());
        assertEquals(reason, fault.reason().text());
    }

    @Test
    void positionsHaveLines() {
        EsiSyntaxException fault = assertThrows(EsiSyntaxException.class, () -> parse("a\n\n <esi:include/>"));
        assertEquals("3:2: <esi:include> has no src", fault.getMessage());
    }

    @Test
    void includesAreLimited() throws EsiSyntaxException {
        String include = "<esi:include src='/f'/>";
        assertEquals(INCLUDES_MAX, parse(include.repeat(INCLUDES_MAX)).size());
        EsiSyntaxException fault =
                assertThrows(EsiSyntaxException.class, () -> parse(include.repeat(INCLUDES_MAX + 1)));
        assertEquals(EsiSyntaxException.Reason.TOO_MANY_INCLUDES, fault.reason());
    }

    @Test
    void messagesAreBounded() {
        EsiSyntaxException fault =
                assertThrows(EsiSyntaxException.class, () -> parse("<esi:" + "a".repeat(100_000) + "/>"));
        assertTrue(fault.getMessage().length() < 200, fault.getMessage());
    }

    @Test
    void nestingIsLimited() throws EsiSyntaxException {
        assertEquals(1, parse(nested(EsiParser.NESTING_MAX)).parts().size());
        EsiSyntaxException fault =
                assertThrows(EsiSyntaxException.class, () -> parse(nested(EsiParser.NESTING_MAX + 1)));
        assertTrue(fault.getMessage().endsWith("nested <esi:try>"), fault.getMessage());
        assertThrows(EsiSyntaxException.class, () -> parse("<esi:try><esi:attempt>".repeat(100_000)));
    }

    private static String nested(int depth) {
        return "<esi:try><esi:attempt>".repeat(depth)
                + "</esi:attempt><esi:except></esi:except></esi:try>".repeat(depth);
    }

    /** Documents of random pieces are parsed or refused with a place; the parts are in order and within the bytes. */
    @Test
    void randomDocumentsAreParsedOrRefused() {
        String[] pieces = {
            "<esi:",
            "</esi:",
            "include",
            "try>",
            "attempt>",
            "except>",
            "remove>",
            "comment",
            " src=",
            "\"/f\"",
            "'/g'",
            " alt=",
            " onerror=",
            "'continue'",
            "/>",
            ">",
            "<!--esi",
            "-->",
            " ",
            "\n",
            "x",
            "<",
            "-",
            "&amp;",
            "vars>",
            "<esi:include src='/f'/>",
            "<esi:try><esi:attempt>",
            "</esi:attempt><esi:except>",
            "</esi:except></esi:try>"
        };
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int parsed = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder();
            int length = random.nextInt(12);
            for (int j = 0; j < length; j++) {
                text.append(pieces[random.nextInt(pieces.length)]);
            }
            String about = "seed " + seed + ": " + text;
            try {
                EsiDocument document = parse(text.toString());
                checkBounds(document.parts(), 0, document.bytes().length, about);
                parsed++;
            } catch (EsiSyntaxException e) {
                assertTrue(e.getMessage().matches("(?s)\\d+:\\d+: .+"), about + " " + e.getMessage());
            }
        }
        assertTrue(parsed > 1000, "seed " + seed + ": " + parsed);
    }

    private static int checkBounds(List<EsiPart> parts, int from, int end, String about) {
        int at = from;
        for (EsiPart part : parts) {
            if (part instanceof EsiPart.Text text) {
                assertTrue(text.start() >= at && text.end() > text.start() && text.end() <= end, about);
                at = text.end();
            } else if (part instanceof EsiPart.Include include) {
                assertTrue(include.position() >= at && include.position() < end, about);
                at = include.position();
            } else if (part instanceof EsiPart.Try either) {
                checkBounds(either.attempt(), at, end, about);
                checkBounds(either.except(), at, end, about);
            }
        }
        return at;
    }
}
