package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ConfigParts;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.fetch.OriginStatistics;
import io.millrace.proxy.net.Transport;
import io.millrace.proxy.server.ServingLoop;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A proxy whose file a {@link LiveKey} test changes while it serves. In the file, {@code <before|after>} stands for the
 * values before and after the change, {@code @origin} for the URL of the origin, {@code @origin_port} for its port, and
 * {@code @port}, after the change, for the port of the proxy. Without rules everything is mapped to the origin.
 *
 * <p>A test fails if it changes another key than declared, if the change is not applied live, or if it observes no
 * difference.
 */
final class LiveProxy implements BeforeEachCallback, AfterEachCallback {
    /** An effect that can be observed from outside. */
    interface Seen<T> {
        T see() throws Exception;
    }

    /** Status of a request whose connection is closed without a response. */
    static final int CLOSED = -1;

    private static final Pattern TURN = Pattern.compile("<([^<>|]*)\\|([^<>|]*)>");

    private final ProxyExtension proxy = new ProxyExtension();
    private final List<RawOrigin> others = new ArrayList<>();
    private RawOrigin.Script script;
    private String file = "";
    private Path directory = Path.of("").toAbsolutePath();
    private String key = "";
    private LiveKey.Place place = LiveKey.Place.FOR_ALL;
    private ExtensionContext context;
    private boolean fastLane;
    private boolean started;
    private boolean changed;
    private boolean turned;
    private int paths;

    LiveProxy() {
        answers("Cache-Control: max-age=60\r\n");
    }

    /** Makes the origin answer 200 with these field lines and a content that counts its requests. */
    LiveProxy answers(String fields) {
        return script(request -> request.ok(fields, RawInput.latin1("answer " + request.number())));
    }

    /** Makes the origin answer with the head of each request, not storable. */
    LiveProxy echoes() {
        return script(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())));
    }

    LiveProxy script(RawOrigin.Script toRun) {
        script = toRun;
        return this;
    }

    /** One more origin. */
    RawOrigin origin(RawOrigin.Script toRun) throws IOException {
        return keep(new RawOrigin(toRun));
    }

    /** Starts another origin, whose content is a word. */
    RawOrigin origin(String word) throws IOException {
        return origin(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(word)));
    }

    RawOrigin keep(RawOrigin origin) {
        others.add(origin);
        return origin;
    }

    LiveProxy file(String text) {
        file = text;
        return this;
    }

    /** Sets the directory of relative paths in the file. */
    LiveProxy in(Path folder) {
        directory = folder;
        return this;
    }

    /** Observes one value, changes the settings, and observes the other value. */
    <T> void turns(T before, T after, Seen<T> seen) throws Exception {
        assertNotEquals(before, after);
        if (!started) {
            start();
        }
        assertEquals(before, seen.see(), "before the change");
        change();
        assertEquals(after, seen.see(), "after the change");
        turned = true;
    }

    /** Starts the proxy with the settings before the change. */
    void start() throws IOException {
        started = true;
        place = LiveKey.Place.of(context);
        proxy.start(script, fresh -> {
            fastLane = fresh.build().worker().fastLane();
            return read().toBuilder();
        });
    }

    private void change() {
        ProxyConfig before = proxy.proxy().config();
        changed = true;
        ProxyConfig after = read();
        assertTrue(
                ConfigParts.differing(before, after).contains(key),
                () -> key + " is not what changes: " + ConfigParts.differing(before, after));
        List<ReloadReport.Setting> settings = proxy.proxy().reload(after).settings();
        for (ReloadReport.Setting setting : settings) {
            assertEquals(ReloadReport.Result.APPLIED, setting.result(), setting::key);
        }
        String list = key.replaceFirst("\\[.*", "");
        String told = place == LiveKey.Place.IN_RULES ? "remap" : list;
        assertTrue(settings.stream().anyMatch(setting -> setting.key().equals(told)), () -> told + ": " + settings);
    }

    private ProxyConfig read() {
        StringBuilder text = new StringBuilder();
        Matcher turn = TURN.matcher(file);
        while (turn.find()) {
            turn.appendReplacement(text, Matcher.quoteReplacement(turn.group(changed ? 2 : 1)));
        }
        turn.appendTail(text);
        RawOrigin origin = proxy.origin();
        String whole = text.toString()
                .replace("@origin_port", String.valueOf(origin.port()))
                .replace("@origin", origin.url())
                .replace("@port", changed ? String.valueOf(proxy.address().getPort()) : "@port");
        ConfigResult result = ConfigLoader.parse(whole, "millrace.yaml", directory, fallback(whole));
        if (result.config() == null) {
            throw new AssertionError(result.text() + "\n" + whole);
        }
        ConfigKey<?> found = Objects.requireNonNull(ConfigCatalog.find(key), key);
        return place == LiveKey.Place.IN_RULES ? ConfigParts.movedIntoRules(result.config(), found) : result.config();
    }

    /** Returns the keys that the file does not set. */
    private Map<String, String> fallback(String text) {
        Map<String, String> settings = new LinkedHashMap<>();
        if (!text.contains("access: [")) {
            settings.put("log.access.enabled", "false");
        }
        settings.put("worker.event_loops", "1");
        if (!text.contains("ram_size:")) {
            settings.put("cache.ram_size", "32MiB");
        }
        if (!text.contains("fast_lane:")) {
            settings.put("worker.fast_lane", String.valueOf(fastLane));
        }
        if (!text.contains("listen:")) {
            settings.put("listen", "['127.0.0.1:0']");
        }
        if (!text.contains("remap:")) {
            settings.put("remap", "[{map: /, to: '" + proxy.origin().url() + "'}]");
        }
        return settings;
    }

    /** Returns whether there is a fast lane, by the system and by the settings of all tests or of the class. */
    boolean hasFastLane() {
        return !"false".equals(System.getProperty("millrace.test.fast_lane"))
                && !context.getRequiredTestClass().isAnnotationPresent(InChannels.class)
                && Transport.choose("auto").hasPlainSockets();
    }

    /** Returns whether the settings have been changed. */
    boolean isChanged() {
        return changed;
    }

    ProxyExtension proxy() {
        return proxy;
    }

    /** Returns a path that was not requested before. */
    String fresh() {
        return "/" + ++paths;
    }

    /** Sends one request on a new connection, and waits until no fetch is in progress. */
    RawClient.Response get(String path, String... fields) throws IOException {
        RawClient.Response response = proxy.get(path, fields);
        settle();
        return response;
    }

    /** Waits until no origin has a request, and no fetch can be joined. */
    void settle() {
        proxy.settle();
        ProxyExtension.await(
                "the end of fetches", () -> proxy.proxy().shared().collapser().size() == 0);
    }

    /** Returns a value of the event loop's statistics of origins. */
    long origins(ToLongFunction<OriginStatistics> figure) {
        ServingLoop loop = proxy.proxy().loops().get(0);
        return loop.loop()
                .submit(() -> figure.applyAsLong(loop.origins().statistics()))
                .awaitUninterruptibly()
                .getNow();
    }

    int status(String path, String... fields) throws IOException {
        return get(path, fields).status();
    }

    String text(String path, String... fields) throws IOException {
        return get(path, fields).text();
    }

    /** Returns a field of the response for a path that was not requested before. */
    String field(String name) throws IOException {
        return get(fresh()).field(name);
    }

    /** Returns a field of the request to the origin, which must {@link #echoes}. */
    String sent(String name) throws IOException {
        return RawClient.field(text(fresh()), name);
    }

    /** Returns the number of requests to the origin when one client requests a path this many times. */
    int fetchesOf(int requests, String path, String... fields) throws IOException {
        int before = proxy.origin().requests();
        for (int i = 0; i < requests; i++) {
            get(path, fields);
        }
        return proxy.origin().requests() - before;
    }

    /** Returns whether a second request for the same path goes to the origin. */
    boolean isFetchedTwice(String path, String... fields) throws IOException {
        int fetches = fetchesOf(2, path, fields);
        assertTrue(fetches == 1 || fetches == 2, () -> fetches + " fetches");
        return fetches == 2;
    }

    /** Returns the seconds for which a response that was just stored is fresh, by Cache-Status. */
    int ttl(String path, String... fields) throws IOException {
        get(path, fields);
        String status = get(path, fields).field("cache-status");
        Matcher ttl = Pattern.compile("hit; ttl=(-?\\d+)").matcher(status);
        assertTrue(ttl.find(), status);
        return Integer.parseInt(ttl.group(1));
    }

    /**
     * Waits longer than a deadline of some milliseconds, until the proxy has timed out an unfinished request of another
     * client: the file has {@code client_header: 10ms}.
     */
    void lull() throws IOException {
        try (RawClient late = new RawClient(proxy.address())) {
            assertEquals(408, late.send("GET / HTTP/1.1\r\n").response().status());
        }
    }

    /** Returns the status of the next response, or {@link #CLOSED}. */
    static int statusOrClosed(RawClient client) throws IOException {
        String head;
        try {
            head = client.in.readHead();
        } catch (SocketException e) {
            return CLOSED;
        }
        return head == null ? CLOSED : Integer.parseInt(head.substring(9, 12));
    }

    @Override
    public void beforeEach(ExtensionContext of) {
        context = of;
        proxy.beforeEach(of);
        LiveKey said = of.getRequiredTestMethod().getAnnotation(LiveKey.class);
        key = said.value();
    }

    @Override
    public void afterEach(ExtensionContext of) throws Exception {
        proxy.afterEach(of);
        for (RawOrigin other : others) {
            other.close();
        }
        if (of.getExecutionException().isEmpty()) {
            assertTrue(turned, () -> "nothing was seen of " + key);
        }
    }
}
