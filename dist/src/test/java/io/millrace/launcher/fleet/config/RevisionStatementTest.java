package io.millrace.launcher.fleet.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.history.TrafficSample;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the text of statements, guards, and the parts of long contents. */
class RevisionStatementTest {
    private static final String TEXT = """
            millrace fleet config 1
            fleet cdn
            revision 12
            content none
            restores 11
            canary n1,n2
            seconds 300
            guard hit_ratio>80,errors<0.5
            at 2026-11-28T10:00:00Z
            by me
            """;

    @Test
    void aTextIsReadAndWrittenAgain() throws Exception {
        RevisionStatement statement = RevisionStatement.parse(TEXT);
        assertEquals(TEXT, statement.text());
        assertEquals(List.of("n1", "n2"), statement.canary());
        assertEquals(2, statement.guards().size());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    config 1     | config 2
                    revision 12  | revision 0
                    revision 12  | revision 012
                    revision 12  | revision 9999999999999999999
                    restores 11  | restores 12
                    content none | content abc
                    canary n1,n2 | canary n1,
                    canary n1,n2 | canary none
                    seconds 300  | seconds 90000
                    >80          | >=80
                    hit_ratio    | ratio
                    by me        | name me
                    fleet cdn    | fleet a.b
                    """)
    void aMalformedTextIsRefused(String good, String bad) {
        assertTrue(TEXT.contains(good));
        assertThrows(RefusedRevisionException.class, () -> RevisionStatement.parse(TEXT.replace(good, bad)));
    }

    @Test
    void guardsCompareTheirFigures() throws Exception {
        String metrics = "millrace_requests_total{cache=\"hit\"} 150\nmillrace_requests_total{cache=\"miss\"} 50\n";
        TrafficSample traffic = TrafficSample.of("w", metrics);
        assertNull(Guard.parse("hit_ratio>74.9").failure(traffic));
        assertEquals(
                "hit_ratio is 75, the guard is hit_ratio>75",
                Guard.parse("hit_ratio>75").failure(traffic));
        assertEquals(
                "requests is 200, the guard is requests<100",
                Guard.parse("requests<100").failure(traffic));
        assertNull(Guard.parse("errors<1").failure(TrafficSample.none()));
        assertTrue(Guard.parse("hit_ratio>0").failure(TrafficSample.none()).contains("no request"));
        assertTrue(Guard.parse("p99_ms<5").failure(TrafficSample.none()).contains("no request"));
    }

    @Test
    void aLongContentIsDividedIntoParts() throws Exception {
        byte[] random = new byte[3 << 20];
        new Random(1).nextBytes(random);
        StringBuilder text = new StringBuilder();
        for (byte one : random) {
            text.append((char) ('a' + (one & 15)));
        }
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        FakeStore store = new FakeStore();
        RevisionStore revisions = new RevisionStore(store);
        String hash = RevisionStore.hash(bytes);
        revisions.writeContent(hash, bytes);
        assertTrue(store.entries.size() > 3, () -> "parts: " + store.entries.keySet());
        assertEquals(text.toString(), revisions.content(hash));
        store.delete("content." + hash + ".1");
        assertThrows(RefusedRevisionException.class, () -> revisions.content(hash));
    }
}
