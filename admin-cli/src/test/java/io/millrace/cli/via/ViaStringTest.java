package io.millrace.cli.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ViaStringTest {
    private static String means(ViaString via, int index) {
        return via.letters().get(index).means();
    }

    /** The samples of articles about Traffic Server, and the strings of Millrace. */
    @Test
    void aFirstFetchIsReadInAllForms() {
        ViaString full = ViaString.parse("[uScMsSfWpSeN:t cCMi p sS]").get(0);
        assertEquals(12, full.letters().size());
        assertEquals("not in the cache (miss)", means(full, 1));
        assertEquals("connection to the origin", full.letters().get(11).question());
        assertEquals("opened or taken from the pool", means(full, 11));
        ViaString without = ViaString.parse("uScMsSfWpSeN:t cCMp sS").get(0);
        assertEquals(11, without.letters().size());
        assertEquals("a miss", means(without, 8));
        ViaString brief = ViaString.parse("cMsSfW").get(0);
        assertEquals(
                List.of('M', 'S', 'W'),
                brief.letters().stream().map(ViaString.Letter::letter).toList());
    }

    @Test
    void aHitIsReadAlsoWithoutItsLastBlank() {
        for (String text :
                new String[] {"[uScHs f p eN:t cCHi p s ]", "uScHs f p eN:t cCHi p s", "uScHs f p eN:t cCHp s"}) {
            ViaString via = ViaString.parse(text).get(0);
            assertEquals("in the cache, fresh (hit)", means(via, 1));
            assertEquals(
                    "not needed", via.letters().get(via.letters().size() - 1).means());
        }
        assertEquals("nothing written", means(ViaString.parse("cHs f").get(0), 2));
    }

    @Test
    void everyProxyOfAFieldHasItsName() {
        List<ViaString> all = ViaString.parse(
                "Via: 1.1 edge (Millrace [cHs f ]), http/1.1 parent.example (ApacheTrafficServer/10.2.0 [cMsSfW])");
        assertEquals(
                List.of("1.1 edge", "http/1.1 parent.example"),
                all.stream().map(ViaString::proxy).toList());
    }

    @Test
    void anUnknownLetterIsReported() {
        assertEquals(
                "a letter that is not known", means(ViaString.parse("cZs f ").get(0), 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "hello", "1.1 edge", "cHs", "[cHs f ", "uScHs f p eN:t cCHi p s more", "cHs fw"})
    void invalidStringsAreRefused(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> ViaString.parse(text))
                .getMessage();
        assertTrue(message.contains("Via") || message.contains("bracket"), message);
    }
}
