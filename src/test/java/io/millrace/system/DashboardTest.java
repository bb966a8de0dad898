package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The dashboard of the packed product in a real browser: its figures, a purge, and hostile text in URLs and fields. */
class DashboardTest {
    private static final String FRESH = "Cache-Control: max-age=600";
    private static final Duration LISTED_WITHIN = Duration.ofSeconds(60);
    private static final int SCREENS = 14;

    /** Markup and code that must stay text. Each sets {@code window.struck} where it is executed. */
    private static final List<String> HOSTILE = List.of(
            "<script>window.struck=1</script>",
            "\"><img src=x onerror=window.struck=1>",
            "'><svg onload=window.struck=1>",
            "javascript:window.struck=1",
            "${window.struck=1}",
            "</td></table><iframe srcdoc='<script>parent.struck=1</script>'>",
            "=HYPERLINK(\"http://evil.example\")");

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private static MillraceProcess proxy;
    private static Browser browser;

    private String lease = "";
    private String url = "";

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        Assumptions.assumeTrue(Browser.isInstalled(), "SKIPPED: chromium is not installed");
        proxy = product.launch()
                .origin(origin.url())
                .set("cache.tags.fields", "[Surrogate-Key]")
                .set("cache.curve", "true")
                .start();
        for (String path : List.of("/a.css", "/b.css", "/c.html")) {
            origin.serves(path, "content of " + path, FRESH, "Surrogate-Key: shop post-17");
            RawClient.fetch(proxy.port(), path);
            RawClient.fetch(proxy.port(), path);
        }
        for (int i = 0; i < HOSTILE.size(); i++) {
            String path = "/hostile" + i;
            origin.serves(
                    path,
                    "x",
                    FRESH,
                    "Content-Type: " + HOSTILE.get(i),
                    "ETag: \"" + HOSTILE.get(i).replace("\"", "'") + "\"");
        }
        browser = Browser.start(product.newDirectory());
    }

    /** Percent-encodes as little as a request line needs. */
    private static String encoded(String text) {
        return text.chars()
                .mapToObj(c -> c <= ' ' || c == '"' || c == '#' ? String.format("%%%02X", c) : Character.toString(c))
                .collect(Collectors.joining());
    }

    @BeforeEach
    void login() throws IOException, InterruptedException {
        Json opened = proxy.admin().post("/v1/dashboard/open", "{}").json();
        lease = opened.at("lease").text();
        url = opened.at("url").text();
        browser.open(url);
        browser.await("document.querySelector('[data-name=requests_total][data-value]')");
    }

    @AfterEach
    void close() throws IOException {
        proxy.admin().post("/v1/dashboard/close", "{\"lease\":" + Browser.quoted(lease) + "}");
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    private static void show(String fragment, String heading) throws IOException, InterruptedException {
        browser.value("location.hash = " + Browser.quoted(fragment));
        browser.await("document.querySelector('h1').textContent === " + Browser.quoted(heading));
    }

    private static String raw(String name) throws IOException, InterruptedException {
        return browser.value("document.querySelector('[data-name=\"" + name + "\"]').dataset.value")
                .text();
    }

    private static String hasRaw(String name, String value) {
        return "document.querySelector('[data-name=" + name + "]').dataset.value === " + Browser.quoted(value);
    }

    private static void assertClean() throws IOException, InterruptedException {
        assertEquals(List.of(), browser.problems());
        assertTrue(browser.value(
                        "window.struck === undefined && document.querySelector('iframe, script:not([src])') === null")
                .isTrue());
        String own = browser.value("location.origin").text();
        assertEquals(
                List.of(),
                browser.requested().stream()
                        .filter(url -> !url.startsWith(own + "/") && !url.equals("about:blank"))
                        .toList());
    }

    /** The case of every build: login by code, every screen, one purge. */
    @Test
    void everyScreenShowsAndAPurgeTakesEffect() throws Exception {
        RawClient.fetch(proxy.port(), "/a.css");
        show("#/overview", "Overview");
        browser.await(
                hasRaw("requests_total", proxy.status().at("requests_total").text()));
        browser.await(hasRaw("hits_total", proxy.status().at("cache.hits_total").text()));
        assertFalse(browser.value("location.href").text().contains("code"), "the code is still in the address");
        assertEquals(
                SCREENS,
                browser.value("document.querySelectorAll('nav a').length").number());
        for (String[] screen : new String[][] {
            {"latency", "Latency"},
            {"events", "Events"},
            {"log", "Live log"},
            {"cache", "Cache"},
            {"curve", "What RAM would bring"},
            {"purge", "Purge"},
            {"origins", "Origins"},
            {"fleet", "Fleet"},
            {"config", "Configuration"},
            {"processes", "Processes"},
            {"disks", "Disks"},
            {"certificates", "Certificates"},
            {"overview", "Overview"}
        }) {
            show("#/" + screen[0], screen[1]);
            browser.await("!document.body.innerText.includes('Loading.')");
            if (screen[0].equals("log")) {
                watching();
            }
        }
        show("#/inspect?url=" + proxy.url("/a.css"), "Inspector");
        browser.await("document.querySelector('[data-name=outcome]')");
        assertEquals("hit", raw("outcome"));
        browser.click("Purge");
        browser.confirm("Purge");
        browser.await("document.querySelector('[data-name=outcome]').dataset.value === 'fetch'");
        int before = origin.count("/a.css");
        RawClient.fetch(proxy.port(), "/a.css");
        assertEquals(before + 1, origin.count("/a.css"));
        show("#/events?group=purge&since=1h", "Events");
        browser.await("document.querySelector('[data-name=events]').innerText.includes('/a.css')");
        assertClean();
    }

    @ParameterizedTest
    @CsvSource({
        "host, 127.0.0.1:PORT",
        "prefix, http://127.0.0.1:PORT/b",
        "tags, post-17",
        "wildcard, http://127.0.0.1:PORT/*.css",
        "regex, /b[.]css$",
        "where, path == \"/b.css\" && status == 200",
        "all, ''"
    })
    @Tag("nightly")
    void purgesOfEveryKind(String kind, String value) throws Exception {
        RawClient.fetch(proxy.port(), "/b.css");
        int before = origin.count("/b.css");
        show("#/overview", "Overview");
        show("#/purge?kind=" + kind, "Purge");
        if (!kind.equals("all")) {
            browser.fill("value", value.replace("PORT", Integer.toString(proxy.port())));
        }
        browser.click("Check and purge");
        browser.confirm("Purge");
        browser.await("document.querySelector('[data-name=purge-id]')");
        RawClient.fetch(proxy.port(), "/b.css");
        assertEquals(before + 1, origin.count("/b.css"));
        assertClean();
    }

    /** The page shows the same figures as the command line, here of a node that rejects the revision. */
    @Test
    @Tag("nightly")
    void theFleetPageShowsTheConfigurationOfEachNode(@TempDir Path directory) throws Exception {
        NatsServer.assumeInstalled();
        FleetKeyPair keys = FleetKeyPair.in(directory);
        try (NatsServer nats = NatsServer.start(directory.resolve("nats"))) {
            String servers = "[\"" + nats.url() + "\"]";
            product.launch()
                    .origin(origin.url())
                    .shortWarmUp()
                    .set("fleet.name", "cdn")
                    .set("fleet.servers", servers)
                    .set("fleet.node", "n1")
                    .set("fleet.config_public_key_file", keys.publicKey().toString())
                    .start();
            proxy.millctl(
                            "config",
                            "set",
                            "fleet.name=cdn",
                            "fleet.servers=" + servers,
                            "fleet.node=n0",
                            "fleet.config_public_key_file=" + keys.publicKey())
                    .succeeds();
            await().atMost(LISTED_WITHIN).until(() -> fleetConfig().size() == 2);
            Path file = Files.writeString(
                    directory.resolve("site.yaml"),
                    "log: {slow_threshold: 9s}\nnodes: {n1: {log: {slow_threshold: never}}}\n");
            String key = keys.privateKey().toString();
            await().atMost(LISTED_WITHIN)
                    .until(() -> proxy.millctl("fleet", "config", "push", file.toString(), "--key", key)
                                    .exitCode()
                            == 0);
            await().atMost(LISTED_WITHIN).until(() -> states().equals("n0 applied, n1 rejected"));
            show("#/fleet", "Fleet");
            for (Json node : fleetConfig()) {
                String row = "[...document.querySelectorAll('[data-name=nodes] tbody tr')].find((row) =>"
                        + " row.innerText.includes('" + node.at("node").text() + "'))";
                browser.await(row + "?.querySelector('[data-config]').dataset.config === '"
                        + node.at("state").text() + "'");
                assertEquals(
                        node.at("revision").text(),
                        browser.value(row + ".querySelector('[data-config]').dataset.revision")
                                .text());
                String text = browser.value(row + ".innerText").text();
                assertTrue(text.contains(node.at("reason").text()), text);
            }
            assertEquals("1", raw("config-newest"));
            String options = browser.value("document.querySelector('select[name=node]').innerText")
                    .text();
            assertTrue(options.contains("n0, revision 1, applied") && options.contains("n1, rejected"), options);
            assertClean();
        } finally {
            proxy.millctl("config", "reset", "--all").succeeds();
        }
    }

    private static List<Json> fleetConfig() {
        Command status = proxy.millctl("fleet", "config", "status", "-o", "json");
        return status.json().at("nodes").elements();
    }

    private static String states() {
        return fleetConfig().stream()
                .map(node -> node.at("node").text() + " " + node.at("state").text())
                .collect(Collectors.joining(", "));
    }

    private void checkAndPurgeSoftly(String kind, String value) throws Exception {
        show("#/overview", "Overview");
        show("#/purge?kind=" + kind, "Purge");
        browser.fill("value", value);
        browser.value("document.querySelector('[name=mode][value=soft]').click()");
        browser.click("Check and purge");
    }

    @Test
    @Tag("nightly")
    void aPurgeByPatternIsCountedFirstListedAndUndone() throws Exception {
        RawClient.fetch(proxy.port(), "/b.css");
        await().atMost(LISTED_WITHIN).until(() -> proxy.admin()
                .get("/v1/cache/list?prefix=" + proxy.url("/b.css"))
                .text()
                .contains("/b.css"));
        int before = origin.count("/b.css");
        String condition = "path == \"/b.css\" && status == 200";
        checkAndPurgeSoftly("where", condition);
        browser.await("document.querySelector('[data-name=dry-run]').dataset.value === '1'");
        browser.await("document.querySelector('dialog[open] .url').textContent.includes('/b.css')");
        browser.confirm("Purge");
        browser.await("document.querySelector('[data-name=purge-id]')");
        String id = raw("purge-id");
        browser.await("document.querySelector('[data-name=purges] tbody tr').innerText.includes('b.css')");
        Json record = proxy.admin().get("/v1/cache/purge?id=" + id).json();
        assertEquals(
                "pattern soft waiting",
                record.at("scope").text()
                        + ' '
                        + record.at("mode").text()
                        + ' '
                        + record.at("sweep").text());
        browser.click("Undo");
        browser.confirm("Undo");
        browser.await("document.querySelector('[data-name=purge-id]').innerText.includes('undone')");
        browser.await("document.querySelector('[data-name=purges] tbody tr').innerText.includes('undone')");
        RawClient.fetch(proxy.port(), "/b.css");
        assertEquals(before, origin.count("/b.css"));
        assertClean();
    }

    /** The page shows the place of the fault, and nothing is purged. */
    @Test
    @Tag("nightly")
    void aWrongExpressionIsNotPurged() throws Exception {
        String purges = proxy.admin().get("/v1/cache/purges").text();
        checkAndPurgeSoftly("where", "status == 200 && colour == 1");
        browser.await("document.querySelector('dialog[open] .message.bad pre')");
        browser.confirm("Purge");
        browser.await("!document.querySelector('dialog[open]') && document.querySelector('.message.bad pre')");
        assertEquals(purges, proxy.admin().get("/v1/cache/purges").text());
        assertTrue(browser.problems().stream().allMatch(problem -> problem.contains("status of 400")));
    }

    @Test
    @Tag("nightly")
    void hostileTextStaysText() throws Exception {
        for (int i = 0; i < HOSTILE.size(); i++) {
            RawClient.fetch(proxy.port(), "/hostile" + i + "?" + encoded(HOSTILE.get(i)));
        }
        await().atMost(LISTED_WITHIN)
                .until(() -> proxy.admin().get("/v1/cache/list?limit=1000").json().at("objects").elements().stream()
                                .filter(one -> one.at("url").text().contains("/hostile"))
                                .count()
                        == HOSTILE.size());
        show("#/cache?prefix=" + proxy.url("/hostile"), "Cache");
        browser.await("document.querySelectorAll('[data-name=objects] tbody tr').length === " + HOSTILE.size());
        for (Json object : proxy.admin()
                .get("/v1/cache/list?limit=1000&prefix=" + proxy.url("/hostile"))
                .json()
                .at("objects")
                .elements()) {
            String url = object.at("url").text();
            assertTrue(
                    browser.value("[...document.querySelectorAll('[data-name=objects] a')].some((one) =>"
                                    + " one.textContent === "
                                    + Browser.quoted(url) + ")")
                            .isTrue(),
                    url);
            show("#/overview", "Overview");
            show("#/inspect?url=" + URLEncoder.encode(url, StandardCharsets.UTF_8), "Inspector");
            browser.await("document.querySelector('[data-name=outcome]')");
            assertEquals("hit", raw("outcome"), url);
            show("#/cache?prefix=" + proxy.url("/hostile"), "Cache");
            browser.await("document.querySelectorAll('[data-name=objects] tbody tr').length === " + HOSTILE.size());
        }
        for (String text : HOSTILE) {
            show("#/overview", "Overview");
            show("#/cache?where=" + URLEncoder.encode(text, StandardCharsets.UTF_8), "Cache");
            browser.await("document.querySelector('.message.bad')");
        }
        // Requests with an invalid expression are answered with 400, which the browser logs as an error.
        assertEquals(
                List.of(),
                browser.problems().stream()
                        .filter(problem -> !problem.contains("status of 400"))
                        .toList());
        assertTrue(browser.value("window.struck === undefined").isTrue());
    }

    private static void watching() throws IOException, InterruptedException {
        browser.await("document.querySelector('[data-name=log-state]').dataset.value === 'watching'");
    }

    private static void awaitRequest(String text) throws IOException, InterruptedException {
        browser.await(
                "document.querySelector('[data-name=requests]').innerText.includes(" + Browser.quoted(text) + ")");
    }

    private static void press(String key, int code) throws IOException, InterruptedException {
        browser.call("Emulation.setFocusEmulationEnabled", "{\"enabled\":true}");
        for (String type : List.of("rawKeyDown", "keyUp")) {
            browser.call(
                    "Input.dispatchKeyEvent",
                    "{\"type\":\"" + type + "\",\"key\":\"" + key + "\",\"code\":\"" + key
                            + "\",\"windowsVirtualKeyCode\":" + code + "}");
        }
    }

    @Test
    @Tag("nightly")
    void liveLogShowsRequestsAsTheyFinish() throws Exception {
        show("#/log", "Live log");
        watching();
        RawClient.fetch(proxy.port(), "/a.css?one");
        RawClient.fetch(proxy.port(), "/a.css?two");
        awaitRequest("/a.css?one");
        awaitRequest("/a.css?two");
        // From row to row by the keyboard, and the details of one.
        browser.value("document.querySelector('.row-open').focus()");
        press("ArrowDown", 40);
        browser.await("document.activeElement === document.querySelectorAll('.row-open')[1]");
        browser.value("document.activeElement.click()");
        browser.await("document.querySelector('dialog[open]').innerText.includes('TCP_MISS')");
        browser.await("document.querySelector('dialog[open]').innerText.includes('the result code of the format')");
        press("Escape", 27);
        browser.await("document.querySelector('dialog') === null");
        browser.await("document.activeElement === document.querySelectorAll('.row-open')[1]");
        browser.click("Pause");
        browser.await("location.hash === '#/log?paused=1'");
        browser.await("document.querySelector('[data-name=log-state]').dataset.value === 'paused'");
        awaitRequest("/a.css?one");
        // The filters are in the address.
        String condition = URLEncoder.encode("path == \"/none\"", StandardCharsets.UTF_8);
        browser.value("location.hash = '#/log?status=4xx&where=" + condition + "'");
        watching();
        RawClient.fetch(proxy.port(), "/a.css");
        RawClient.fetch(proxy.port(), "/none");
        awaitRequest("/none");
        assertEquals(
                1,
                browser.value("document.querySelectorAll('[data-name=requests] tbody tr').length")
                        .number());
        browser.fill("status", "9xx");
        browser.click("Apply");
        browser.await("document.querySelector('[role=alert]').textContent.includes('400-499')");
        assertClean();
    }

    @Test
    @Tag("nightly")
    void failedAndRefusedRequestsAreKeptAndFitASmallScreen() throws Exception {
        origin.on("/broken", exchange -> exchange.answer(500, ""));
        RawClient.fetch(proxy.port(), "/broken");
        browser.call(
                "Emulation.setDeviceMetricsOverride",
                "{\"width\":360,\"height\":740,\"deviceScaleFactor\":1,\"mobile\":false}");
        show("#/log?kind=failed", "Live log");
        awaitRequest("/broken");
        assertTrue(browser.value("document.documentElement.scrollWidth <= 360").isTrue());
        browser.value("document.querySelector('.row-open').click()");
        browser.await("document.querySelector('dialog[open]').getBoundingClientRect().width <= 360");
        browser.confirm("Only this host");
        browser.await("location.hash.includes('host=127.0.0.1')");
        awaitRequest("/broken");
        browser.call("Emulation.clearDeviceMetricsOverride", "{}");
        assertClean();
    }

    @Test
    @Tag("nightly")
    void hostileRequestsStayTextInTheLiveLog() throws Exception {
        show("#/log", "Live log");
        watching();
        for (int i = 0; i < HOSTILE.size(); i++) {
            RawClient.fetch(
                    proxy.port(),
                    "/hostile" + i + "?" + encoded(HOSTILE.get(i)),
                    "User-Agent: " + HOSTILE.get(i),
                    "Referer: " + HOSTILE.get(i));
        }
        browser.await("document.querySelectorAll('[data-name=requests] tbody tr').length >= " + HOSTILE.size());
        for (int i = 0; i < HOSTILE.size(); i++) {
            String open = "[...document.querySelectorAll('[data-name=requests] tbody tr')].find((row) =>"
                    + " row.textContent.includes('/hostile" + i + "?')).querySelector('.row-open')";
            browser.await(open);
            browser.value(open + ".click()");
            browser.await("document.querySelector('dialog[open]').textContent.includes("
                    + Browser.quoted(HOSTILE.get(i)) + ")");
            browser.confirm("Close");
            browser.await("document.querySelector('dialog') === null");
        }
        for (String text : HOSTILE) {
            show("#/overview", "Overview");
            show("#/log?kind=failed&host=" + URLEncoder.encode(text, StandardCharsets.UTF_8), "Live log");
            browser.await("document.querySelector('[name=host]').value === " + Browser.quoted(text));
        }
        assertClean();
    }

    /** Code that is put into the page by other means is refused by the policy. */
    @Test
    @Tag("nightly")
    void policyRefusesInlineCodeAndMarkup() throws Exception {
        browser.value("const code = document.createElement('script');"
                + "try { code.textContent = 'window.struck = 1'; document.body.append(code); } catch (e) { }");
        assertTrue(browser.value("window.struck === undefined").isTrue());
        assertTrue(browser.value("(() => { try { document.createElement('p').innerHTML = '<b>x</b>'; return false; }"
                        + " catch (e) { return e instanceof TypeError; } })()")
                .isTrue());
    }

    @Test
    @Tag("nightly")
    void figuresAreThoseOfTheApi() throws Exception {
        show("#/processes", "Processes");
        browser.await("document.querySelector('[data-name=loops]')");
        assertEquals(proxy.admin().get("/v1/server").json().at("pid").text(), raw("worker_pid"));
        List<Json> loops = proxy.admin().get("/v1/server").json().at("loops").elements();
        assertEquals(
                loops.size(),
                browser.value("document.querySelectorAll('[data-name=loops] tbody tr').length")
                        .number());
        show("#/config", "Configuration");
        browser.value("document.querySelector('input[type=checkbox]').click()");
        int keys =
                proxy.admin().get("/v1/config").json().at("settings").elements().size();
        browser.await("document.querySelectorAll('[data-name=settings] details').length === " + keys);
        show("#/config?tab=history", "Configuration");
        int entries = proxy.admin()
                .get("/v1/config/history")
                .json()
                .at("entries")
                .elements()
                .size();
        browser.await("document.querySelectorAll('[data-name=history] tbody tr').length === " + entries);
        assertClean();
    }

    /** The figures that the launcher recorded, as charts, heat map and tables, for each range. */
    @Test
    @Tag("nightly")
    void recordedFiguresAreShownAndHostileEventsStayText() throws Exception {
        for (int i = 0; i < HOSTILE.size(); i++) {
            String url = proxy.url("/hostile" + i + "?" + encoded(HOSTILE.get(i)));
            proxy.admin().post("/v1/cache/purge", "{\"url\":" + Browser.quoted(url) + "}");
        }
        await().atMost(Duration.ofSeconds(60))
                .until(() -> proxy.admin()
                                .get("/v1/history?series=requests,buckets")
                                .json()
                                .at("points")
                                .elements()
                                .size()
                        > 0);
        for (String range : List.of("hour", "day", "week")) {
            show("#/overview?range=" + range, "Overview");
            browser.await("document.querySelectorAll('.chart canvas').length >= 5");
            show("#/latency?range=" + range, "Latency");
            browser.await("document.querySelector('[data-name=durations]')");
            browser.await("Number(document.querySelector('[data-name=misses]').dataset.value) > 0");
        }
        show("#/events?group=purge", "Events");
        browser.await("document.querySelectorAll('[data-name=events] tbody tr').length >= " + HOSTILE.size());
        assertClean();
    }

    /** A code works once. A browser that has a session keeps it. */
    @Test
    @Tag("nightly")
    void urlOpenedAgainKeepsTheSession() throws Exception {
        browser.open(url);
        browser.await("document.querySelector('[data-name=requests_total][data-value]')");
        assertEquals(
                "operator",
                browser.value("document.querySelector('.who').textContent").text());
    }

    @Test
    @Tag("nightly")
    void logoutEndsTheSession() throws Exception {
        browser.click("Log out");
        browser.await("document.querySelector('input[name=token]')");
        browser.fill("token", "not the right token");
        browser.click("Log in");
        browser.await("document.querySelector('[role=alert]').textContent.includes('wrong-token')");
    }

    /** The command prints one URL, which works, and its port closes with the command. */
    @Test
    @Tag("nightly")
    void commandHoldsThePortUntilItEnds() throws Exception {
        Process command = new ProcessBuilder(
                        product.home().resolve("bin/millctl").toString(),
                        "dashboard",
                        "--no-browser",
                        "--admin",
                        proxy.adminSocket().toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String url = command.inputReader().readLine();
        assertTrue(url.matches("http://127\\.0\\.0\\.1:\\d+/ui/#code=\\S{32}"), url);
        try (Browser other = Browser.start(product.newDirectory())) {
            other.open(url);
            other.await("document.querySelector('[data-name=requests_total][data-value]')");
            command.destroy();
            assertTrue(command.waitFor(20, TimeUnit.SECONDS));
            other.await("document.body.innerText.includes('Log in') || document.body.innerText.includes('does not"
                    + " answer')");
        }
    }
}
