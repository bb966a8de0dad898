package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Purges in Cloudflare's form of hosts that belong to two sites, by scheme or by path. */
class SharedHostPurgesTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    @TempDir
    Path directory;

    private AdminFront front;

    @BeforeEach
    void start() throws IOException {
        Path socket = directory.resolve("admin.sock");
        ConfigValues web = ConfigValues.builder().set(RemapKeys.SITE, "web").build();
        proxy.start(
                request -> request.ok("Cache-Control: max-age=6000\r\n", RawInput.latin1("answer")),
                config -> config.map("/", proxy.origin().url())
                        .map("http://www.example/", proxy.origin().url(), web)
                        .map("http://both.example/", proxy.origin().url(), web)
                        .map("https://both.example/", proxy.origin().url(), web)
                        .map("http://two.example/", proxy.origin().url(), web)
                        .map("https://two.example/", proxy.origin().url())
                        .map("http://path.example/blog/", proxy.origin().url(), web)
                        .map("http://path.example/", proxy.origin().url())
                        .map("https://path.example/", proxy.origin().url())
                        .set("admin.socket", socket.toString()));
        front = AdminFront.of(directory, socket);
    }

    @AfterEach
    void close() {
        front.close();
    }

    private RawClient.Response purge(String body) throws IOException {
        return front.request("admin", "POST", "/zones/web/purge_cache", body.replace('\'', '"'));
    }

    /** The error names the rule of the other site, a URL that it maps, and the change of the configuration. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'files':['http://www.example/a']} | http://www.example/a | remap[0] (map: /) | https://www.example/a | www.example | add a rule for https://www.example/ with site: web",
                "{'files':['https://www.example/a']} | https://www.example/a | remap[0] (map: /) | https://www.example/a | www.example | add a rule for https://www.example/ with site: web",
                "{'hosts':['www.example']} | http://www.example/ | remap[0] (map: /) | https://www.example/ | www.example | add a rule for https://www.example/ with site: web",
                "{'prefixes':['www.example/blog']} | http://www.example/blog | remap[0] (map: /) | https://www.example/blog | www.example | add a rule for https://www.example/ with site: web",
                "{'files':['http://two.example/a']} | http://two.example/a | remap[5] (map: https://two.example/) | https://two.example/a | two.example | set site: web in this rule",
                "{'hosts':['path.example']} | http://path.example/ | remap[7] (map: http://path.example/) | http://path.example/ | path.example | set site: web in this rule"
            })
    void theErrorNamesTheRuleOfTheOtherSite(
            String body, String purged, String rule, String url, String site, String remedy) throws IOException {
        RawClient.Response response = purge(body);
        assertEquals(400, response.status(), response.text());
        assertTrue(
                response.text()
                        .contains("a purge of " + purged + " would also cover another site: " + rule + " assigns " + url
                                + " to the site " + site + ", not to web; " + remedy + ", or use millctl purge"),
                response.text());
        assertEquals(List.of(), proxy.proxy().shared().purges().latest(null, 9));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'files':['http://both.example/a']}",
                "{'files':['https://both.example/a']}",
                "{'hosts':['both.example']}",
                "{'prefixes':['both.example/blog']}"
            })
    void aHostOfOneSiteInBothSchemesIsPurged(String body) throws IOException {
        RawClient.Response response = purge(body);
        assertEquals(200, response.status(), response.text());
    }

    /** The site web and the host web, which only the rule for every host maps, are different. */
    @ParameterizedTest
    @CsvSource({"/zones/web/purge_cache", "/service/web/purge_all"})
    void aPurgeOfEverythingCoversTheHostsOfTheRulesOnly(String path) throws IOException {
        RawClient.Response response =
                front.request("admin", "POST", path, path.endsWith("cache") ? "{\"purge_everything\":true}" : "");
        assertEquals(200, response.status(), response.text());
        assertEquals(
                List.of("both.example", "path.example", "two.example", "www.example"),
                proxy.proxy().shared().purges().latest(null, 9).stream()
                        .map(record -> record.target())
                        .sorted()
                        .toList());
    }
}
