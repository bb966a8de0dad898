package io.millrace.proxy.observe.field;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.millrace.proxy.observe.field.ViaCodes.Part;
import io.netty.util.AsciiString;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ViaCodesTest {
    private static final ViaText FULL = new ViaText("p", 3);

    @Test
    void everyLetterStandsInItsPlace() {
        ViaCodes codes = new ViaCodes();
        Iterator<Character> letters =
                List.of('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'Y', 'Z').iterator();
        for (Part part : Part.values()) {
            codes.set(part, letters.next());
        }
        assertEquals(
                "1.1 p (Millrace [uAcBsCfDpEeF:tGcHYi p sZ])",
                codes.text(FULL, 1, false, false).toString());
        codes.set(Part.FILL, 'W').set(Part.CONNECTION, ' ');
        assertEquals(
                "1.0 p (Millrace [uAcBsCfWpEeF:tGcHYi p s ])",
                codes.text(FULL, 0, false, false).toString());
        assertEquals(
                "1.1 p (Millrace [u c s f p e :t c  i p s ])",
                codes.begin().text(FULL, 1, false, false).toString());
    }

    @Test
    void repeatedTextsAreMadeOnceAndForOneFormOnly() {
        ViaCodes codes = new ViaCodes();
        AsciiString first = codes.begin().set(Part.LOOKUP, 'M').text(FULL, 1, true, false);
        codes.begin().set(Part.LOOKUP, 'H').text(FULL, 1, true, false);
        assertSame(first, codes.begin().set(Part.LOOKUP, 'M').text(FULL, 1, true, false));
        assertNotSame(first, codes.text(FULL, 1, false, false));
        ViaText stack = new ViaText("q", 4);
        assertEquals(
                "1.1 q (Millrace [u cMs f p e :t c  i p s ] [http/1.1 tls tcp ipv6])",
                codes.text(stack, 1, true, true).toString());
        assertNull(new ViaText("p", 0).plain(1));
        assertEquals("1.0 p", String.valueOf(new ViaText("p", 1).plain(0)));
    }
}
