package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.AdminServer;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of the dashboard in a real browser, with answers of the admin API that a test specifies. */
class DashboardPageTest {
    private static final String PAGE =
            "{\"objects\":[%s],\"hosts\":[%s],\"next\":%s,\"complete\":true,\"reason\":null}";
    private static final String OBJECT =
            "{\"url\":\"http://a.example/%s\",\"status\":200,\"type\":\"text/css\",\"length\":1,"
                    + "\"whole\":true,\"stored_at\":1,\"kept_until\":2,\"tags\":[],\"volume\":\"v\",\"segment\":1,"
                    + "\"offset\":%s}";
    private static final String HOST = "{\"host\":\"a.example\",\"objects\":%d,\"bytes\":10}";
    private static final String EXPLANATION = "{\"outcome\":\"%s\",\"steps\":[]}";
    private static final String BATCH = "{\"viewer\":\"%s\",\"lost\":%d,\"records\":[%s]}";
    private static final String RECORD = "{\"time\":\"2026-11-28T10:00:00.123Z\",\"duration_us\":12,\"status\":200,"
            + "\"cache\":\"hit\",\"result\":\"TCP_MEM_HIT\",\"body_bytes\":1,\"method\":\"GET\","
            + "\"url\":\"http://a.example/%s\",\"number\":%d}";
    private static final String DRY_RUN = "{\"id\":\"p1\",\"state\":\"%s\",\"objects\":3,\"bytes\":30}";

    /** Shortens the pauses between two requests of the page to some milliseconds, but not its limits of requests. */
    private static final String FAST_TIMERS = "const setTimer = window.setTimeout; window.setTimeout = (task, time) =>"
            + " setTimer(task, time > 10000 ? time : Math.min(time, 10));";

    /** Requests of the test itself, after which requests of the page that are in progress have ended. */
    private static final int ROUNDS = 20;

    @TempDir
    static Path directory;

    private static Browser browser;

    private final Scripted status = new Scripted(
            "GET",
            "/v1/status",
            request -> "{\"version\":\"1\",\"product\":\"Millrace\",\"state\":\"running\",\"requests_total\":7,"
                    + "\"connections\":{},\"cache\":{\"hits_total\":1,\"misses_total\":1}}");
    private final Scripted origins = new Scripted("GET", "/v1/origins", request -> "{\"hosts\":[]}");
    private final Scripted metrics = new Scripted("GET", "/metrics", request -> "");
    private final Scripted history = new Scripted("GET", "/v1/history", request -> "409 history-off");
    private final Scripted events = new Scripted("GET", "/v1/events", request -> "{\"events\":[]}");
    private final Scripted alarms = new Scripted("GET", "/v1/alarms", request -> "{\"alarms\":[]}");
    private final Scripted list = new Scripted("GET", "/v1/cache/list", request -> PAGE.formatted("", "", "null"));
    private final Scripted explain = new Scripted("GET", "/v1/explain", request -> EXPLANATION.formatted("hit"));
    private final Scripted lookup =
            new Scripted("GET", "/v1/cache/lookup", request -> "{\"stored\":false,\"reason\":\"r\"}");
    private final Scripted purges = new Scripted("GET", "/v1/cache/purges", request -> "{\"purges\":[]}");
    private final Scripted dryRun =
            new Scripted("POST", "/v1/cache/purge/dry-run", request -> DRY_RUN.formatted("counting"));
    private final Scripted count = new Scripted("GET", "/v1/cache/purge", request -> DRY_RUN.formatted("counting"));
    private final Scripted live = new Scripted("GET", "/v1/log/live", request -> BATCH.formatted("one", 0, ""));
    private final Scripted fields = new Scripted("GET", "/v1/log/fields", request -> "{\"fields\":[],\"members\":[]}");
    private final Scripted cancel =
            new Scripted("POST", "/v1/cache/purge/cancel", request -> DRY_RUN.formatted("cancelled"));

    private final Scripted curve = new Scripted("GET", "/v1/cache/curve", request -> "409 curve-off");
    private final Scripted set = new Scripted(
            "POST", "/v1/config/set", request -> "{\"ok\":true,\"settings\":[],\"problems\":[],\"notes\":[]}");

    private AdminServer server;
    private String url;

    /** A resource with an answer that the test specifies. Thread-safe. */
    private static final class Scripted implements AdminResource {
        private final String method;
        private final String path;
        private final List<String> targets = new CopyOnWriteArrayList<>();
        private final List<AdminResponder> held = new CopyOnWriteArrayList<>();
        private volatile Function<AdminRequest, @Nullable String> answer;

        Scripted(String method, String path, Function<AdminRequest, @Nullable String> answer) {
            this.method = method;
            this.path = path;
            this.answer = answer;
        }

        /** @param changed returns the content, or status and code of an error; null to answer later */
        void answers(Function<AdminRequest, @Nullable String> changed) {
            answer = changed;
        }

        @Override
        public String method() {
            return method;
        }

        @Override
        public String path() {
            return path;
        }

        @Override
        public void handle(AdminRequest request, AdminResponder responder) {
            String content = answer.apply(request);
            if (content == null) {
                held.add(responder);
            } else {
                responder.reply(reply(content));
            }
            targets.add(request.target() + " " + new String(request.body(), StandardCharsets.UTF_8));
        }

        static AdminReply reply(String content) {
            String[] words = content.split(" ", 2);
            return words[0].matches("[45]\\d\\d")
                    ? AdminReply.error(Integer.parseInt(words[0]), words[1], "no answer within 30 seconds")
                    : new AdminReply(200, AdminReply.JSON, content.getBytes(StandardCharsets.UTF_8));
        }
    }

    @BeforeAll
    static void startBrowser() throws IOException, InterruptedException {
        Assumptions.assumeTrue(Browser.isInstalled(), "SKIPPED: chromium is not installed");
        browser = Browser.start(directory);
    }

    @AfterAll
    static void stopBrowser() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void start() throws IOException {
        AdminServer.Builder builder = AdminServer.builder().dashboard();
        for (Scripted each : List.of(
                status, origins, metrics, history, events, alarms, list, explain, lookup, purges, dryRun, count, cancel,
                live, fields, curve, set)) {
            builder.resource(each);
        }
        server = builder.start();
        url = newUrl();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private String newUrl() {
        return server.openDashboard().toCompletableFuture().join();
    }

    private static String originOf(String url) {
        return url.substring(0, url.indexOf("/ui/"));
    }

    private static void openOverview(String url) throws IOException, InterruptedException {
        browser.open(url);
        browser.await("document.querySelector('[data-name=requests_total]').dataset.value === '7'");
    }

    private static void show(String fragment) throws IOException, InterruptedException {
        browser.value("location.hash = " + Browser.quoted(fragment));
    }

    /** Runs the page's requests in progress to their end. */
    private static void settle() throws IOException, InterruptedException {
        for (int i = 0; i < ROUNDS; i++) {
            browser.value("fetch('/ui/', {cache: 'no-store'}).then((reply) => reply.text()).then(() => true)");
        }
    }

    private static String parameter(AdminRequest request, String name) {
        try {
            String value = request.optionalParameter(name);
            return value == null ? "" : value;
        } catch (AdminException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Texts of alarms may contain bytes of an origin, so they are shown as text. */
    @Test
    void raisedAlarmsAreOnTheOverview() throws Exception {
        alarms.answers(request -> "{\"alarms\":[{\"kind\":\"origin-group-down\",\"severity\":\"error\","
                + "\"subject\":\"shop\",\"text\":\"<img src=x onerror=document.title='bad'>\",\"since_seconds\":1}]}");
        openOverview(url);
        browser.await("document.querySelector('[data-name=alarms]').innerText.includes('<img src=x')");
        assertTrue(browser.value("document.body.innerText.includes('1 alarm')").isTrue());
        assertTrue(browser.value("document.querySelector('[data-name=alarms] img') === null")
                .isTrue());
    }

    /** A viewer that has ended, here by a roll, begins again; the requests so far stay on the page. */
    @Test
    void liveLogContinuesWithANewViewerAndTellsOfLostRequests() throws Exception {
        AtomicInteger opened = new AtomicInteger();
        live.answers(request -> switch (parameter(request, "viewer") + parameter(request, "after")) {
            case "" -> BATCH.formatted(opened.incrementAndGet() == 1 ? "one" : "two", 0, "");
            case "one0" -> BATCH.formatted("one", 3, RECORD.formatted("first", 1));
            case "one1" -> "404 unknown-viewer";
            case "two0" -> BATCH.formatted("two", 0, RECORD.formatted("<b>second", 1));
            default -> null;
        });
        openOverview(url);
        show("#/log?host=a.example&status=2xx");
        browser.await("document.querySelectorAll('[data-name=requests] tbody tr').length === 2");
        browser.await(
                "document.querySelector('[data-name=requests] tbody a').textContent === 'http://a.example/<b>second'");
        browser.await("document.body.innerText.includes('3 requests were not shown')");
        browser.await("document.body.innerText.includes('Requests in between are missing')");
        String first = live.targets.get(0);
        assertEquals(
                "/v1/log/live?where=host+%3D%7E+%22%5Ea%5B.%5Dexample%28%3A%5B0-9%5D%2B%29%3F%24%22+%26%26+status+%3E%3D+200+%26%26+status+%3C%3D+299 ",
                first);
        browser.click("Clear");
        browser.await("document.querySelector('[data-name=requests]') === null");
        browser.click("Pause");
        browser.await("document.querySelector('[data-name=log-state]').dataset.value === 'paused'");
        browser.await("location.hash.includes('paused=1') && location.hash.includes('host=a.example')");
    }

    @Test
    void anOperatorTurnsTheEstimateForOtherSizesOfRamOn() throws Exception {
        set.answers(request -> {
            curve.answers(later -> curveReport("measuring", 3));
            return "{\"ok\":true,\"settings\":[],\"problems\":[],\"notes\":[]}";
        });
        openOverview(url);
        show("#/curve");
        browser.await("document.body.innerText.includes('The estimate is off.')");
        browser.click("Turn it on");
        browser.await("document.querySelector('[data-name=measuring]').innerText.endsWith(', 3 requests.')");
        browser.await("document.body.innerText.includes('Still rising: RAM × 2 +10.0 percentage points.')");
        browser.await("document.querySelector('[data-name=gain_2]') === null");
        assertEquals(List.of("/v1/config/set {\"settings\":{\"cache.curve\":\"true\"}}"), set.targets);
        curve.answers(later -> curveReport("ready", 9000));
        show("#/overview");
        show("#/curve");
        browser.await("document.querySelector('[data-name=gain_2] .stat-value').innerText === '+20.0 points'");
        browser.await("document.body.innerText.includes('55.0% measured, 50.0% estimated')");
        set.answers(request -> {
            curve.answers(later -> "409 curve-off");
            return "{\"ok\":true,\"settings\":[],\"problems\":[],\"notes\":[]}";
        });
        browser.click("Turn it off");
        browser.await("document.body.innerText.includes('The estimate is off.')");
        assertEquals("/v1/config/set {\"settings\":{\"cache.curve\":\"false\"}}", set.targets.get(1));
    }

    /** An estimate of a tier that evicts by LRU: twice the RAM brings 10 points while measuring, and then 20. */
    private static String curveReport(String state, int requests) {
        String size = "{\"scale\":%d,\"ram_bytes\":1048576,\"current\":{\"hit_ratio\":0.1,\"byte_hit_ratio\":0.1},"
                + "\"lru\":{\"hit_ratio\":%s,\"byte_hit_ratio\":0.1},\"s3_fifo\":{\"hit_ratio\":0.1,\"byte_hit_ratio\":0.1}}";
        return "{\"state\":\"" + state + "\",\"waits_for\":\"change\",\"since_seconds\":1795900000,\"policy\":\"lru\","
                + "\"ram_hit_ratio\":0.55,\"sample_rate\":1,\"sampled_keys\":7,\"lost\":0,\"requests_total\":"
                + requests
                + ",\"requests\":" + requests + ",\"hosts\":[],\"sizes\":[" + size.formatted(1, "0.5") + ","
                + size.formatted(2, state.equals("ready") ? "0.7" : "0.6") + "]}";
    }

    @Test
    void raisedAlarmsAreOnEveryScreen() throws Exception {
        alarms.answers(
                request -> "{\"alarms\":[{\"kind\":\"disk-offline\",\"subject\":\"/d\",\"text\":\"t\",\"since\":1}]}");
        openOverview(url);
        show("#/purge");
        browser.await("document.querySelector('header [data-name=raised]').innerText === '1 alarm'");
    }

    @Test
    void searchGoesOnAfterPagesWithoutMatches() throws Exception {
        list.answers(request -> switch (parameter(request, "after")) {
            case "" -> PAGE.formatted("", "", "\"1\"");
            case "1" -> PAGE.formatted(OBJECT.formatted("first", 1), "", "\"2\"");
            case "2" -> PAGE.formatted("", "", "\"3\"");
            default -> PAGE.formatted(OBJECT.formatted("last", 2), "", "null");
        });
        openOverview(url);
        show("#/cache?where=status == 200");
        browser.await("document.querySelectorAll('[data-name=objects] tbody tr').length === 2");
        browser.await("document.body.innerText.includes('2 shown')");
        settle();
        assertEquals(4, list.targets.size(), list.targets::toString);
    }

    @Test
    void stoppedSearchContinuesWhereItWas() throws Exception {
        list.answers(request -> switch (parameter(request, "after")) {
            case "" -> PAGE.formatted(OBJECT.formatted("first", 1), "", "\"1\"");
            default -> null;
        });
        openOverview(url);
        show("#/cache");
        browser.await("document.querySelectorAll('[data-name=objects] tbody tr').length === 1");
        browser.click("Stop");
        list.answers(request -> PAGE.formatted(OBJECT.formatted("last" + parameter(request, "after"), 2), "", "null"));
        browser.click("Search on");
        browser.await("document.querySelectorAll('[data-name=objects] tbody tr').length === 2");
        browser.await("document.body.innerText.includes('/last1')");
    }

    /** A count reads the whole inventory: it is made on request, and ends with its screen. */
    @Test
    void hostsAreCountedOnRequest() throws Exception {
        list.answers(request -> parameter(request, "count").isEmpty()
                ? PAGE.formatted("", "", "null")
                : parameter(request, "after").isEmpty() ? PAGE.formatted("", HOST.formatted(3), "\"1\"") : null);
        openOverview(url);
        show("#/cache");
        browser.await("document.body.innerText.includes('No stored response matches')");
        settle();
        assertTrue(list.targets.stream().noneMatch(target -> target.contains("count=host")), list.targets::toString);
        browser.click("Count by host");
        browser.await("document.body.innerText.includes('3 objects so far')");
        show("#/overview");
        browser.await("document.querySelector('h1').textContent === 'Overview'");
        list.held.get(0).reply(Scripted.reply(PAGE.formatted("", HOST.formatted(4), "\"2\"")));
        settle();
        assertEquals(
                2,
                list.targets.stream()
                        .filter(target -> target.contains("count=host"))
                        .count());
    }

    @Test
    void earlierAnswerDoesNotReplaceALaterOne() throws Exception {
        explain.answers(request -> null);
        openOverview(url);
        show("#/inspect?url=http%3A%2F%2Fa.example%2F");
        browser.await("document.querySelector('input[name=url]').value === 'http://a.example/'");
        while (explain.held.isEmpty()) {
            settle();
        }
        explain.answers(request -> EXPLANATION.formatted("fetch"));
        browser.click("Inspect");
        browser.await("document.querySelector('[data-name=outcome]').dataset.value === 'fetch'");
        explain.held.get(0).reply(Scripted.reply(EXPLANATION.formatted("hit")));
        settle();
        assertEquals(
                "fetch",
                browser.value("document.querySelector('[data-name=outcome]').dataset.value")
                        .text());
    }

    @Test
    void codeIsUsedInAPageThatIsOpen() throws Exception {
        browser.open(originOf(url) + "/ui/");
        browser.await("document.querySelector('input[name=token]')");
        show(url.substring(url.indexOf('#')));
        browser.await("document.querySelector('[data-name=requests_total]').dataset.value === '7'");
        assertFalse(browser.value("location.href").text().contains("code"));
        // A further code is used too, and one that was used already disturbs nothing.
        show("#/cache");
        browser.await("document.querySelector('h1').textContent === 'Cache'");
        String again = newUrl();
        for (int i = 0; i < 2; i++) {
            show(again.substring(again.indexOf('#')));
            browser.await("document.querySelector('h1').textContent === 'Overview'");
            settle();
        }
        assertEquals(
                "Overview",
                browser.value("document.querySelector('h1').textContent").text());
    }

    @Test
    void twoDashboardsInOneBrowser() throws Exception {
        String other = newUrl();
        openOverview(url);
        openOverview(other);
        openOverview(originOf(url) + "/ui/");
        openOverview(originOf(other) + "/ui/");
        browser.click("Log out");
        browser.await("document.querySelector('input[name=token]')");
        openOverview(originOf(url) + "/ui/");
    }

    @Test
    void hiddenPageSendsNoRequests() throws Exception {
        String script = browser.call(
                        "Page.addScriptToEvaluateOnNewDocument", "{\"source\":" + Browser.quoted(FAST_TIMERS) + "}")
                .at("identifier")
                .text();
        try {
            openOverview(url);
            browser.value("Object.defineProperty(document, 'hidden', {configurable: true, get: () => true})");
            settle();
            int before = status.targets.size() + origins.targets.size();
            settle();
            settle();
            assertEquals(before, status.targets.size() + origins.targets.size());
            browser.value("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))");
            while (status.targets.size() + origins.targets.size() < before + 4) {
                settle();
            }
        } finally {
            browser.call("Page.removeScriptToEvaluateOnNewDocument", "{\"identifier\":" + Browser.quoted(script) + "}");
        }
    }

    /** A range with this many recorded steps. */
    private static String recorded(int steps) {
        StringBuilder points = new StringBuilder();
        for (int i = 0; i < steps; i++) {
            points.append(i == 0 ? "" : ",")
                    .append("{\"at\":")
                    .append(i * 10)
                    .append(",\"measured_ms\":10000,\"requests\":1,\"hits\":1,\"sent_bytes\":")
                    .append(i % 2)
                    .append(",\"origin_bytes\":0,\"origin_requests\":0,\"errors\":0,\"p50_us\":1,\"p99_us\":1,"
                            + "\"origin_p99_us\":null}");
        }
        return "{\"from\":0,\"to\":" + steps * 10 + ",\"step\":10,\"bounds_us\":[],\"points\":[" + points + "]}";
    }

    @Test
    void figuresOfAnotherRangeAreNotShown() throws Exception {
        history.answers(request -> parameter(request, "from").equals("3600s") ? recorded(7) : null);
        openOverview(url);
        String label =
                "document.querySelector('.chart[aria-label^=\"Requests per second\"]').getAttribute('aria-label')";
        browser.await("!" + label + ".includes('no data yet')");
        show("#/overview?range=week");
        browser.await(label + ".includes('no data yet')");
        while (history.held.isEmpty()) {
            settle();
        }
        history.held.get(0).reply(Scripted.reply(recorded(3)));
        browser.await("!" + label + ".includes('no data yet')");
    }

    /** The charts stay the same objects, also when there is no traffic in one interval and some in the next. */
    @Test
    void chartsAreKept() throws Exception {
        AtomicInteger samples = new AtomicInteger();
        metrics.answers(request -> {
            int number = samples.incrementAndGet();
            return "millrace_received_bytes_total{side=\"origin\"} 100\nmillrace_sent_bytes_total{side=\"client\"} "
                    + number / 2 * 1000 + "\n";
        });
        openOverview(url);
        browser.await("document.querySelectorAll('.uplot').length === 5");
        int before = samples.get();
        while (samples.get() < before + 2) {
            settle();
        }
        browser.value("document.querySelectorAll('.uplot').forEach((one) => { one.kept = true; })");
        int marked = samples.get();
        while (samples.get() < marked + 3) {
            settle();
        }
        assertTrue(browser.value("[...document.querySelectorAll('.uplot')].every((one) => one.kept)")
                .isTrue());
    }

    @Test
    void countOfADryRunIsCancelledWithItsQuestion() throws Exception {
        openOverview(url);
        show("#/purge?kind=host");
        browser.await("document.querySelector('input[name=value]')");
        browser.fill("value", "a.example");
        browser.click("Check and purge");
        browser.await("document.querySelector('[data-name=dry-run]').dataset.value === '3'");
        show("#/overview");
        while (cancel.targets.isEmpty()) {
            settle();
        }
        assertEquals(List.of("/v1/cache/purge/cancel {\"id\":\"p1\"}"), List.copyOf(cancel.targets));
    }

    @Test
    void failureNamesTheNextStep() throws Exception {
        explain.answers(request -> "504 timeout");
        openOverview(url);
        show("#/inspect?url=http%3A%2F%2Fa.example%2F");
        browser.await("document.querySelector('[role=alert]').textContent.startsWith('No answer within 30 seconds. Try"
                + " again in some seconds.')");
        explain.answers(request -> "{\"outcome\":");
        browser.click("Inspect");
        browser.await("document.querySelector('[role=alert]').textContent.startsWith('The answer of Millrace is"
                + " incomplete. Try again')");
        server.close();
        browser.click("Inspect");
        browser.await("document.querySelector('[role=alert]').textContent.startsWith('Millrace does not answer. If"
                + " \"millctl dashboard\" has ended, run it again.')");
        browser.click("Log out");
        browser.await("document.querySelector('[role=alert]').textContent.includes('millctl dashboard --log-out-all')");
    }
}
