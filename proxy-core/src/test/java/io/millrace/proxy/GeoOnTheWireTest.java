package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.geo.MmdbWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests conditions that read the country of clients, with real clients at loopback addresses. */
class GeoOnTheWireTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private Path database;

    @BeforeEach
    void write() throws Exception {
        MmdbWriter writer = new MmdbWriter(24, 6).add(127, 0, 0, 0, 8, MmdbWriter.country("DE", "EU"));
        database = Files.write(directory.resolve("c.mmdb"), writer.bytes());
    }

    @Test
    void hitsAndMissesAreDecidedByCountry() throws Exception {
        proxy.start(
                request -> request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("content " + request.number())),
                fresh -> fresh.set("geo.database", database.toString())
                        .set(
                                RuleKeys.RULES.path(),
                                "[{when: 'country == \"DE\" && path == \"/no\"', answer: {status: 451}},"
                                        + " {when: 'country != \"DE\"', answer: {status: 410}},"
                                        + " {when: 'continent in (\"EU\")', set_response_header: {X-Place: europe}}]"));
        assertEquals("content 1", proxy.getAndSettle("/a").text());
        RawClient.Response hit = proxy.get("/a");
        assertEquals("content 1", hit.text());
        assertTrue(hit.field("cache-status").contains("hit"), hit.head());
        assertEquals("europe", hit.field("x-place"));
        assertEquals(451, proxy.get("/no").status());
    }
}
