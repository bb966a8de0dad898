package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.ats.AtsImport;
import io.millrace.launcher.importing.ImportResult;
import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests configurations from articles of 2010 to 2015 for Traffic Server, imported with {@code millctl import ats}: the
 * product then behaves as the articles describe.
 */
@Tag("nightly")
class ImportedArticlesTest {
    private static final Duration WAIT = Duration.ofSeconds(60);
    private static final DateTimeFormatter HTTP_DATE =
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH);

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private Path directory;
    private int port;
    private @Nullable ProxyServer proxy;

    @BeforeEach
    void newDirectory() {
        directory = product.newDirectory();
        port = PackedProduct.freePort();
    }

    /** Writes a file of Traffic Server; ORIGIN stands for the origin's authority, PORT for the proxy's port. */
    private void file(String name, String... lines) throws IOException {
        String text = String.join("\n", lines) + "\n";
        Files.writeString(
                directory.resolve(name),
                text.replace("ORIGIN", "127.0.0.1:" + origin.port()).replace("PORT", Integer.toString(port)));
    }

    /** Imports, checks and starts the result with the commands of the product. */
    private MillraceProcess importedByCommand() {
        Path yaml = directory.resolve("millrace.yaml");
        Command done = product.millctl("import", "ats", directory.toString(), "--out", yaml.toString());
        assertTrue(done.exitCode() <= 1, done::toString);
        assertTrue(done.out().contains("checked: ok"), done::toString);
        product.millctl("config", "check", yaml.toString()).succeeds();
        return product.launch()
                .config(yaml)
                .set("worker.event_loops", "1")
                .set("log.access.path", directory.resolve("access.log").toString())
                .listeningByFile(port)
                .start();
    }

    /** The same within this process: the imported configuration has passed the check. */
    private void imported(Map<String, String> settings) throws IOException {
        ImportResult result = AtsImport.read(directory, null);
        Map<String, String> all = new HashMap<>(settings);
        all.put("worker.event_loops", "1");
        all.put("storage", "[]");
        all.put("log.access.path", directory.resolve("access.log").toString());
        ConfigResult config =
                ConfigLoader.parse(String.valueOf(result.yaml()), "millrace.yaml", directory.toAbsolutePath(), all);
        assertTrue(config.isOk(), () -> result.problems() + config.text());
        proxy = ProxyServer.builder().config(config.config()).start();
    }

    private void imported() throws IOException {
        imported(Map.of());
    }

    @AfterEach
    void stop() {
        if (proxy != null) {
            proxy.close();
        }
    }

    /** Sends one request on a new connection, from an address of this machine. */
    private RawResponse ask(String from, String method, String host, String target, String... fieldLines)
            throws IOException {
        StringBuilder request = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n");
        for (String line : fieldLines) {
            request.append(line).append("\r\n");
        }
        try (RawClient client = RawClient.connect(from, port)) {
            return client.send(request.append("\r\n").toString()).response();
        }
    }

    private RawResponse get(String host, String target, String... fieldLines) throws IOException {
        return ask("127.0.0.1", "GET", host, target, fieldLines);
    }

    private List<String> log(String part) {
        return await("a line with " + part)
                .atMost(WAIT)
                .until(
                        () -> Files.exists(directory.resolve("access.log"))
                                ? Files.readAllLines(directory.resolve("access.log")).stream()
                                        .filter(line -> line.contains(part))
                                        .toList()
                                : List.<String>of(),
                        lines -> !lines.isEmpty());
    }

    /** Serves a page that was changed this long before it is sent. */
    private static void ageing(String path, long seconds) {
        origin.on(path, exchange -> {
            ZonedDateTime now = ZonedDateTime.now(ZoneOffset.UTC);
            exchange.answer(200, path, "Date: " + date(now), "Last-Modified: " + date(now.minusSeconds(seconds)));
        });
    }

    private static String date(ZonedDateTime time) {
        return HTTP_DATE.format(time);
    }

    private void blogOf2011() throws IOException {
        file(
                "records.config",
                "CONFIG proxy.config.proxy_name STRING wv-tmp2",
                "CONFIG proxy.config.http.server_port INT PORT",
                "CONFIG proxy.config.url_remap.remap_required INT 1",
                "CONFIG proxy.config.url_remap.pristine_host_hdr INT 1",
                "CONFIG proxy.config.header.parse.no_host_url_redirect STRING http://www.blog.example/",
                "CONFIG proxy.config.http.cache.required_headers INT 0",
                "CONFIG proxy.config.http.cache.when_to_revalidate INT 4",
                "CONFIG proxy.config.cache.ram_cache.size INT 67108864",
                "CONFIG proxy.config.http.insert_response_via_str INT 1",
                "CONFIG proxy.config.http.verbose_via_str INT 2",
                "CONFIG proxy.config.http_ui_enabled INT 1");
        file(
                "remap.config",
                "map http://www.blog.example/ http://ORIGIN/",
                "reverse_map http://ORIGIN/ http://www.blog.example/",
                "regex_map http://([a-z\\-0-9]+)\\.sites\\.example http://ORIGIN/shop/?request=$1",
                "map http://cdn.blog.example/js/ http://ORIGIN/scripts/ @action=allow @src_ip=127.0.0.1 @method=GET",
                "map http://inspector.blog.example/cache http://{cache} @action=allow @src_ip=127.0.0.1",
                "redirect http://old.blog.example/ http://www.blog.example/");
        file(
                "cache.config",
                "dest_host=127.0.0.1 prefix=scripts suffix=js revalidate=1h",
                "dest_host=127.0.0.1 prefix=wp-admin action=never-cache");
    }

    @Test
    void of2011ABlogIsMappedCachedAndSaidSoInVia() throws IOException {
        origin.serves("/page", "page");
        blogOf2011();
        MillraceProcess running = importedByCommand();

        RawResponse miss = get("www.blog.example", "/page");
        assertEquals("page", miss.text());
        assertTrue(miss.joined("Via").matches("1\\.1 wv-tmp2 \\(.*\\[uScM.*"), miss::toString);
        assertEquals("wv-tmp2", miss.joined("Server"), "its own in place of the origin's");
        RawResponse hit = get("www.blog.example", "/page");
        assertTrue(hit.joined("Via").contains("cCH"), hit::toString);
        assertTrue(hit.ageSeconds() >= 0, hit::toString);
        assertEquals(1, origin.count("/page"), "stored without any header of its own");
        assertEquals("www.blog.example", origin.requests("/page").get(0).field("Host"), "pristine");

        assertTrue(log("TCP_MISS/200").get(0).contains("DIRECT/127.0.0.1"), "as Squid writes it");
        assertFalse(log("HIT/200").isEmpty());
        running.millctl("purge", "--all").succeeds();
        get("www.blog.example", "/page");
        assertEquals(2, origin.count("/page"), "the whole cache was purged");
    }

    @Test
    void of2011ItsRulesFiltersAndRulesForSitesHold() throws IOException {
        origin.serves("/scripts/x.js", "script", "Cache-Control: max-age=0");
        origin.serves("/wp-admin/index", "admin", "Cache-Control: max-age=60");
        origin.serves("/shop/", "shop", "Cache-Control: no-store");
        origin.on("/moved", exchange -> exchange.answer(302, "", "Location: http://127.0.0.1:" + origin.port() + "/x"));
        blogOf2011();
        imported();

        assertEquals(
                "http://www.blog.example/x", get("www.blog.example", "/moved").field("Location"));
        get("one-2.sites.example", "/");
        assertEquals("/shop/?request=one-2", origin.requests("/shop/").get(0).target());
        assertEquals("script", get("cdn.blog.example", "/js/x.js").text());
        assertEquals("script", get("cdn.blog.example", "/js/x.js").text());
        assertEquals(1, origin.count("/scripts/x.js"), "for an hour, whatever the origin says");
        assertEquals(
                403, ask("127.0.0.1", "POST", "cdn.blog.example", "/js/x.js").status());
        assertEquals(
                403, ask("127.0.0.2", "GET", "cdn.blog.example", "/js/x.js").status());
        get("www.blog.example", "/wp-admin/index");
        get("www.blog.example", "/wp-admin/index");
        assertEquals(2, origin.count("/wp-admin/index"), "never cached");
        assertEquals("http://www.blog.example/a", get("old.blog.example", "/a").field("Location"));
        assertEquals(404, get("unknown.example", "/").status());
        try (RawClient client = RawClient.connect(port)) {
            RawResponse last = client.send("GET /a HTTP/1.0\r\n\r\n").response();
            assertEquals(302, last.status());
            assertEquals("http://www.blog.example/", last.field("Location"));
        }
    }

    @Test
    void of2012WordPressPurgesFromItsOwnMachineAndIsLoggedAsApacheDoes() throws IOException {
        origin.on("/post", exchange -> exchange.answer(200, "post " + exchange.number()));
        origin.serves("/entry", "deleted", "Cache-Control: no-store");
        file(
                "records.config",
                "CONFIG proxy.config.http.server_port INT PORT",
                "CONFIG proxy.config.url_remap.pristine_host_hdr INT 1",
                "CONFIG proxy.config.http.cache.required_headers INT 0",
                "CONFIG proxy.config.log.custom_logs_enabled INT 1",
                "CONFIG proxy.config.log.logging_enabled INT 2");
        file(
                "logs_xml.config",
                "<LogFormat>",
                "  <Name = \"apache_combined\"/>",
                "  <Format = \"%<chi> - - [%<cqtn>] \\\"%<cqhm> %<cquup>\\\" %<pssc> %<psql> \\\"%<{Referer}cqh>\\\" \\\"%<{User-Agent}cqh>\\\"\"/>",
                "</LogFormat>",
                "<LogObject>",
                "  <Format = \"apache_combined\"/>",
                "  <Filename = \"access\"/>",
                "  <Mode = \"ascii\"/>",
                "</LogObject>");
        file(
                "ip_allow.config",
                "src_ip=127.0.0.1                                  action=ip_allow method=ALL",
                "src_ip=0.0.0.0-255.255.255.255                    action=ip_deny  method=PUSH|PURGE|DELETE");
        file("remap.config", "map http://www.press.example/ http://ORIGIN/");
        imported();

        String host = "www.press.example";
        assertEquals(
                "post 1",
                get(host, "/post", "Referer: http://r.example/", "User-Agent: ab")
                        .text());
        assertEquals("post 1", get(host, "/post").text());
        assertEquals(403, ask("127.0.0.2", "PURGE", host, "/post").status());
        assertEquals("post 1", get(host, "/post").text());
        assertEquals(200, ask("127.0.0.1", "PURGE", host, "/post").status());
        assertEquals("post 2", get(host, "/post").text());
        assertEquals(403, ask("127.0.0.2", "DELETE", host, "/entry").status(), "why DELETE does not pass");
        assertEquals("deleted", ask("127.0.0.1", "DELETE", host, "/entry").text());
        assertTrue(
                log("r.example")
                        .get(0)
                        .matches("127\\.0\\.0\\.1 - - \\[[^]]+] \"GET /post\" 200 \\d+ \"http://r\\.example/\" \"ab\""),
                () -> log("r.example").toString());
    }

    @Test
    void of2010AServerListensAtOneAddressKeepsClientsAndIsNoOpenProxy() throws IOException {
        origin.serves("/", "ok", "Cache-Control: max-age=60");
        file(
                "records.config",
                "CONFIG proxy.config.http.server_port INT PORT",
                "LOCAL proxy.local.incoming_ip_to_bind STRING 127.0.0.1",
                "CONFIG proxy.config.http.keep_alive_no_activity_timeout_in INT 60",
                "CONFIG proxy.config.http.keep_alive_no_activity_timeout_out INT 1",
                "CONFIG proxy.config.exec_thread.autoconfig.scale FLOAT 2.0");
        file("remap.config", "map http://www.bench.example/ http://ORIGIN/");
        imported();

        try (Socket elsewhere = new Socket()) {
            boolean refused = false;
            try {
                elsewhere.connect(new InetSocketAddress("127.0.0.9", port), 5_000);
            } catch (IOException e) {
                refused = true;
            }
            assertTrue(refused, "listens at 127.0.0.1 alone");
        }
        try (RawClient client = RawClient.connect(port)) {
            for (int i = 0; i < 100; i++) {
                RawResponse answer = client.send("GET / HTTP/1.1\r\nHost: www.bench.example\r\n\r\n")
                        .response();
                assertEquals("ok", answer.text());
                assertNull(answer.field("Connection"));
            }
        }
        assertEquals(1, origin.count("/"));
        assertEquals(404, get("victim.example", "http://victim.example/probe").status());
        assertEquals(404, get("victim.example", "/probe").status());
        assertNotEquals(
                200,
                ask("127.0.0.1", "CONNECT", "victim.example:25", "victim.example:25")
                        .status());
        assertEquals(2, log("/probe").size(), "probes can be seen");
        assertTrue(log("/probe").stream().allMatch(line -> line.contains("/404 ")), () -> log("/probe")
                .toString());
    }

    @Test
    void ofACompanysWorkloadWhatIsAskedOftenStaysInMemoryWhileMuchPassesThroughIt() throws IOException {
        byte[] body = "x".repeat(512 << 10).getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < 80; i++) {
            origin.on("/once/" + i, exchange -> exchange.answer(200, body, "Cache-Control: max-age=600"));
        }
        origin.on("/often", exchange -> exchange.answer(200, body, "Cache-Control: max-age=600"));
        origin.serves("/own", "of one user", "Cache-Control: private, max-age=600", "Set-Cookie: session=1");
        file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING PORT:ip-in=127.0.0.1",
                "CONFIG proxy.config.http.cache.cache_responses_to_cookies INT 4",
                "CONFIG proxy.config.cache.ram_cache.size INT 32M",
                "CONFIG proxy.config.cache.ram_cache.algorithm INT 0",
                "CONFIG proxy.config.cache.ram_cache.use_seen_filter INT 1");
        file("remap.config", "map / http://ORIGIN/");
        imported();

        for (int i = 0; i < 80; i++) {
            assertEquals(body.length, get("app.example", "/often").body().length);
            assertEquals(body.length, get("app.example", "/once/" + i).body().length);
        }
        assertTrue(origin.count("/often") < 10, () -> "of 80, while 40 MiB went through 32: " + origin.count("/often"));
        get("app.example", "/own", "Cookie: session=1");
        get("app.example", "/own", "Cookie: session=2");
        assertEquals(2, origin.count("/own"));
    }

    private void nodeOf2012() throws IOException {
        file(
                "records.config",
                "CONFIG proxy.config.http.server_port INT PORT",
                "CONFIG proxy.config.url_remap.remap_required INT 0",
                "CONFIG proxy.config.url_remap.pristine_host_hdr INT 0",
                "CONFIG proxy.config.http.cache.http INT 1",
                "CONFIG proxy.config.http.cache.required_headers INT 0",
                "CONFIG proxy.config.cache.ram_cache.size INT 64M",
                "CONFIG proxy.config.http.server_max_connections INT 2000",
                "CONFIG proxy.config.http.cache.heuristic_min_lifetime INT 3600",
                "CONFIG proxy.config.http.cache.heuristic_max_lifetime INT 86400",
                "CONFIG proxy.config.http.cache.heuristic_lm_factor FLOAT 0.10");
        file("ip_allow.config", "src_ip=127.0.0.1 action=ip_allow");
        file(
                "remap.config",
                "map http://www.example.com/ http://ORIGIN/",
                "reverse_map http://ORIGIN/ http://www.example.com/");
        // Private addresses, such as this test's origin, are permitted destinations only if they are listed.
        imported(Map.of("forward_proxy.allow_destinations", "127.0.0.1/32"));
    }

    @Test
    void of2012ANodeIsReverseAndForwardProxyWithHeuristicLifetimesAndVariants() throws IOException {
        ageing("/young", 3_600);
        ageing("/old", 100 * 86_400);
        ageing("/between", 72_000);
        origin.serves("/elsewhere", "forwarded", "Cache-Control: max-age=600");
        origin.on(
                "/language",
                exchange -> exchange.answer(
                        200,
                        String.valueOf(exchange.request().field("Accept-Language")),
                        "Vary: Accept-Language",
                        "Cache-Control: max-age=600"));
        nodeOf2012();

        assertLifetime("/young", 3_600);
        assertLifetime("/between", 7_200);
        assertLifetime("/old", 86_400);
        assertEquals(
                "127.0.0.1:" + origin.port(), origin.requests("/young").get(0).field("Host"));
        assertEquals(
                "de", get("www.example.com", "/language", "Accept-Language: de").text());
        assertEquals(
                "en", get("www.example.com", "/language", "Accept-Language: en").text());
        assertEquals(
                "de", get("www.example.com", "/language", "Accept-Language: de").text());
        assertEquals(2, origin.count("/language"));

        String url = origin.url() + "/elsewhere";
        assertEquals("forwarded", get("127.0.0.1:" + origin.port(), url).text());
        assertEquals("forwarded", get("127.0.0.1:" + origin.port(), url).text());
        assertEquals(1, origin.count("/elsewhere"), "forwarded and cached");
        assertEquals(
                403, ask("127.0.0.2", "GET", "127.0.0.1:" + origin.port(), url).status());
    }

    @Test
    void of2012WhatIsGoneIsNotServedAndWhatIsStaleIsWhileTheOriginIsSilent() throws IOException {
        origin.on(
                "/gone",
                exchange -> exchange.answer(
                        exchange.number() == 1 ? 200 : 404,
                        "answer " + exchange.number(),
                        exchange.number() == 1 ? "Cache-Control: max-age=1" : "Cache-Control: no-store"));
        origin.serves("/silent", "kept", "Cache-Control: max-age=1");
        nodeOf2012();

        assertEquals("answer 1", get("www.example.com", "/gone").text());
        await("the page to be stale and gone")
                .atMost(WAIT)
                .until(() -> get("www.example.com", "/gone").status() == 404);
        assertEquals("kept", get("www.example.com", "/silent").text());
        origin.stop();
        try {
            await("a stale copy").atMost(WAIT).until(() -> {
                RawResponse stale = get("www.example.com", "/silent");
                assertEquals("kept", stale.text());
                return stale.ageSeconds() > 1;
            });
        } finally {
            origin.start();
        }
    }

    /** Asserts the lifetime of a stored response, by Cache-Status of a hit. */
    private void assertLifetime(String path, long seconds) throws IOException {
        get("www.example.com", path);
        RawResponse hit = get("www.example.com", path);
        String status = hit.joined("Cache-Status");
        assertTrue(status.contains("hit"), hit::toString);
        long left = Long.parseLong(status.replaceFirst(".*ttl=(-?\\d+).*", "$1"));
        assertTrue(left <= seconds && left > seconds - 120, () -> path + ": " + status);
    }
}
