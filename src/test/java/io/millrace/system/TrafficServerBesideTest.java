package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.ats.AtsImport;
import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.ConfigLoader;
import io.millrace.proxy.config.ConfigResult;
import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The same requests to Traffic Server and, with what {@code millctl import ats} makes of its directory, to the product: status,
 * Location, and what the origin is asked are the same, but where docs/import.md says otherwise. Skipped where it is not installed.
 */
class TrafficServerBesideTest {
    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final ScriptedOrigin other = new ScriptedOrigin();

    private static final String CLOSED = "403";

    private static final List<String> RULES = List.of(
            "map http://www.example.com/ http://ORIGIN/",
            "map http://a.example.com/a/b/ http://ORIGIN/x/y/",
            "map http://b.example.com/a/b http://ORIGIN/x/y",
            "map http://c.example.com/a/b http://ORIGIN/x/y/",
            "map http://d.example.com/sub/ http://ORIGIN/",
            "map http://e.example.com http://ORIGIN",
            "map http://f.example.com/ http://ORIGIN/first/",
            "map http://f.example.com/stuff/ http://ORIGIN/second/",
            "map http://g.example.com/stuff/ http://ORIGIN/second/",
            "map http://g.example.com/ http://ORIGIN/first/",
            "map http://h.example.com:8080/ http://ORIGIN/eight/",
            "redirect http://old.example.com/ http://new.example.com/",
            "redirect http://oldp.example.com/a/ http://new.example.com/b/",
            "redirect_temporary http://tmp.example.com/ http://new.example.com/",
            "redirect http://both.example.com/ http://perm.example.com/",
            "redirect_temporary http://both.example.com/ http://temp.example.com/",
            "redirect http://port.example.com/ https://new.example.com:8888/x",
            "regex_map http://x([0-9]+)\\.z\\.com/ http://ORIGIN/rx/",
            "regex_map http://cap([0-9])\\.host\\.com/ http://127.0.0.$1:CAP/cap",
            "regex_redirect http://old\\.(.*)\\.y\\.com/ http://new.$1.y.com/",
            "regex_redirect_temporary http://oldt\\.(.*)\\.y\\.com/ http://new.$1.y.com/q",
            "map_with_recv_port http://recv.example.com:PORT/ http://ORIGIN/port1/",
            "map_with_recv_port http://recv.example.com:SECOND/ http://ORIGIN/port2/",
            "map http://recv.example.com/ http://ORIGIN/noport/",
            "map http://UPPER.example.com/ http://ORIGIN/upper/",
            "map http://mixed.example.com/CaSe/ http://ORIGIN/case/",
            "map http://exact.example.com/file.html http://ORIGIN/other.html",
            "reverse_map http://ORIGIN/x/ http://rev.example.com/y/",
            "map http://rev.example.com/y/ http://ORIGIN/x/",
            "map http://pristine.example.com/ http://ORIGIN/p/ @plugin=conf_remap.so @pparam=proxy.config.url_remap.pristine_host_hdr=1");

    private final Map<String, String> files = new LinkedHashMap<>();
    private final List<Ask> asks = new ArrayList<>();

    @TempDir
    Path root;

    private int port;
    private int second;

    /** @param differs why the answers may differ; empty where they must not */
    private record Ask(String from, String method, String host, String target, List<String> fields, String differs) {
        @Override
        public String toString() {
            return method + " " + target + " of " + host + " from " + from + (fields.isEmpty() ? "" : " " + fields);
        }
    }

    @BeforeAll
    static void assumeInstalled() {
        TrafficServer.assumeInstalled();
    }

    @BeforeEach
    void newDirectory() {
        port = PackedProduct.freePort();
        second = PackedProduct.freePort();
        file("records.config", "CONFIG proxy.config.http.server_ports STRING PORT SECOND");
        file("storage.config", "ROOT/cache 256M");
    }

    /** ORIGIN and OTHER stand for the origins' authorities, PORT and SECOND for the ports. */
    private void file(String name, String... lines) {
        files.put(name, String.join("\n", lines) + "\n");
    }

    private String filled(String text) {
        return text.replace("ORIGIN", "127.0.0.1:" + origin.port())
                .replace("OTHER", "127.0.0.1:" + other.port())
                .replace("PORT", Integer.toString(port))
                .replace("SECOND", Integer.toString(second))
                .replace("THERE", Integer.toString(origin.port()))
                .replace("ROOT", root.toString());
    }

    private void ask(String method, String host, String target, String... fields) {
        asks.add(new Ask("127.0.0.1", method, host, target, List.of(fields), ""));
    }

    private void get(String host, String... targets) {
        for (String target : targets) {
            ask("GET", host, target);
        }
    }

    /** Of the last one it is known that it is answered in another way, and why. */
    private void differs(String why) {
        Ask last = asks.remove(asks.size() - 1);
        asks.add(new Ask(last.from, last.method, last.host, last.target, last.fields, why));
    }

    private void compare() throws IOException {
        Files.createDirectories(root.resolve("etc"));
        for (Map.Entry<String, String> file : files.entrySet()) {
            String own = file.getKey().equals("records.config") ? TrafficServer.SMALL : "";
            Files.writeString(root.resolve("etc").resolve(file.getKey()), filled(file.getValue()) + own);
        }
        List<String> there;
        try (TrafficServer server = TrafficServer.start(root, port)) {
            if (files.containsKey("hosts")) {
                // It reads the file at its leisure.
                Ask first = asks.get(0);
                Ask other = new Ask(first.from, "HEAD", first.host, "/not-asked-for", List.of(), "");
                await("names of its own").atMost(Duration.ofSeconds(60)).until(() -> !answer(other, true)
                        .startsWith("50"));
            }
            there = answers(true);
            assertTrue(server.isAlive());
        }
        AtsImport.Result result = AtsImport.read(root.resolve("etc"), root);
        List<String> here;
        try (ProxyServer proxy = ProxyServer.builder().config(config(result)).start()) {
            assertEquals(port, proxy.addresses().get(0).getPort());
            here = answers(false);
        }
        List<String> different = new ArrayList<>();
        for (int i = 0; i < asks.size(); i++) {
            if (!there.get(i).equals(here.get(i)) && asks.get(i).differs.isEmpty()) {
                different.add(asks.get(i) + "\n  there: " + there.get(i) + "\n  here:  " + here.get(i));
            }
        }
        assertEquals(
                List.of(),
                different,
                () -> String.join("\n", different) + "\n" + result.yaml() + String.join("\n", files.values()));
    }

    private ProxyConfig config(AtsImport.Result result) {
        Map<String, String> own = Map.of(
                "worker.event_loops", "1", "cache.ram_size", "32MiB", "storage", "[]", "log.access.enabled", "false");
        ConfigResult config = ConfigLoader.parse(
                String.valueOf(result.yaml()),
                "millrace.yaml",
                root.resolve("etc").toAbsolutePath(),
                own);
        assertTrue(config.isOk(), () -> result.problems() + config.text());
        return config.config();
    }

    private List<String> answers(boolean mayClose) throws IOException {
        List<String> answers = new ArrayList<>();
        for (Ask ask : asks) {
            int before = origin.requests().size();
            int beforeOther = other.requests().size();
            String answer = answer(ask, mayClose);
            List<String> asked = new ArrayList<>();
            asked(origin, before, asked);
            asked(other, beforeOther, asked);
            answers.add(answer + " " + asked);
        }
        return answers;
    }

    private static void asked(ScriptedOrigin by, int before, List<String> asked) {
        List<OriginRequest> all = by.requests();
        for (OriginRequest request : all.subList(before, all.size())) {
            asked.add(request.method() + " " + request.target() + " " + request.field("Host") + " at " + by.port());
        }
    }

    private String answer(Ask ask, boolean mayClose) throws IOException {
        StringBuilder text = new StringBuilder(ask.method + " " + ask.target + " HTTP/1.1\r\n");
        text.append("Host: ").append(ask.host).append("\r\nConnection: close\r\n");
        ask.fields.forEach(field -> text.append(field).append("\r\n"));
        boolean content = List.of("POST", "PUT").contains(ask.method);
        text.append(content ? "Content-Length: 1\r\n\r\nx" : "\r\n");
        boolean secondPort = ask.fields.contains("X-Port: second");
        try (RawClient client = RawClient.connect(ask.from, secondPort ? second : port)) {
            client.send(text.toString());
            RawResponse response = ask.method.equals("HEAD") ? client.responseToHead() : client.response();
            return response.status() + (response.field("Location") == null ? "" : " to " + response.field("Location"));
        } catch (IOException e) {
            // It closes connections of addresses that may do nothing.
            if (!mayClose) {
                throw e;
            }
            return CLOSED;
        }
    }

    private void fresh(String path, String... fields) {
        origin.on(path, exchange -> exchange.answer(200, "body", fields));
        other.on(path, exchange -> exchange.answer(200, "body", fields));
    }

    @Test
    void rulesAreTheSame() throws IOException {
        // Else rules that lead to one URL would share what is stored.
        file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING PORT SECOND",
                "CONFIG proxy.config.http.cache.http INT 0");
        file(
                "remap.config",
                RULES.stream()
                        .map(rule -> rule.replace("CAP", Integer.toString(origin.port())))
                        .toArray(String[]::new));
        maps();
        redirections();
        expressionsAndPorts();
        methodsAndAnswers();
        compare();
    }

    private void maps() {
        get("www.example.com", "/", "/a", "/a/b?q=1", "/a//b", "/a/../b", "/a;p=1");
        get("WWW.EXAMPLE.COM", "/");
        get("www.example.com:80", "/");
        get("a.example.com", "/a/b/", "/a/b", "/a/b/c", "/a/bc", "/", "/a/b/c/?x=1");
        get("b.example.com", "/a/b/", "/a/b", "/a/b/c", "/a/bc", "/", "/a/b?x=1");
        get("c.example.com", "/a/b/", "/a/b", "/a/b/c", "/a/bc", "/", "/a/b?x=1");
        get("d.example.com", "/sub/", "/sub", "/sub/x", "/subx", "/");
        get("e.example.com", "/", "/a");
        get("f.example.com", "/", "/stuff/a");
        get("g.example.com", "/", "/stuff/a");
        get("h.example.com", "/");
        get("h.example.com:8080", "/");
    }

    private void redirections() {
        get("old.example.com", "/", "/a/b?q=1");
        get("oldp.example.com", "/a/", "/a/x", "/a", "/");
        get("tmp.example.com", "/", "/x?y");
        get("both.example.com", "/");
        get("port.example.com", "/", "/a");
    }

    private void expressionsAndPorts() {
        get("x12.z.com", "/", "/a");
        get("X9.Z.COM", "/q");
        get("x.z.com", "/");
        get("cap1.host.com", "/", "/z");
        get("old.a.y.com", "/", "/p?q");
        get("oldt.a.y.com", "/", "/p?q");
        get("recv.example.com", "/");
        get("recv.example.com:9999", "/");
        ask("GET", "recv.example.com", "/", "X-Port: second");
        get("www.example.com:8080", "/");
        differs("a rule that names no port is for every port");
        get("ax12.z.com", "/");
        differs("expressions are for the whole host");
    }

    private void methodsAndAnswers() {
        get("upper.example.com", "/");
        get("mixed.example.com", "/CaSe/x", "/case/x");
        get("exact.example.com", "/file.html", "/file.html?x", "/file.htmlx", "/file.html/x");
        get("unknown.example.com", "/");
        get("pristine.example.com", "/");
        get("other.example.com", "http://www.example.com/abs");
        for (String method : List.of("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")) {
            ask(method, "www.example.com", "/method");
        }
        origin.on("/x/moved", exchange -> exchange.answer(302, "", "Location: " + origin.url() + "/x/there"));
        origin.on("/x/away", exchange -> exchange.answer(302, "", "Location: http://away.example/"));
        get("rev.example.com", "/y/moved", "/y/away");
    }

    @Test
    void filtersLetInTheSame() throws IOException {
        file(
                "remap.config",
                "map http://one.example/ http://ORIGIN/ @action=allow @src_ip=~127.0.0.2",
                "map http://two.example/ http://ORIGIN/ @action=allow @src_ip=~127.0.0.2 @src_ip=~127.0.0.3",
                "map http://mix.example/ http://ORIGIN/ @action=deny @src_ip=127.0.0.1-127.0.0.3 @src_ip=~127.0.0.2",
                ".definefilter a @action=allow @src_ip=127.0.0.1-127.0.0.2",
                ".activatefilter a",
                "map http://both.example/ http://ORIGIN/ @action=allow @src_ip=127.0.0.2-127.0.0.3",
                ".deactivatefilter A",
                "map http://hash.example/ http://ORIGIN/ @action=allow # @src_ip=127.0.0.1",
                "map http://again.example/ http://ORIGIN/ @action=allow @src_ip=127.0.0.1 @src_ip=~127.0.0.1",
                ".delflt *",
                ".definefilter f @action=deny @src_ip=127.0.0.2",
                ".activatefilter f",
                "map http://named.example/ http://ORIGIN/",
                ".definefilter f @src_ip=127.0.0.3",
                "map http://more.example/ http://ORIGIN/",
                ".deletefilter f",
                "map http://quoted.example/ http://ORIGIN/ \"@action=deny\" @src_ip=127.0.0.2",
                "map http://bits.example/ http://ORIGIN/ @action=deny @src_ip=127.0.0.3/31",
                "# a comment that goes on \\",
                ".deactivatefilter ip_allow",
                "map http://comment.example/ http://ORIGIN/",
                ".deletefilter ip_allow",
                ".deactivatefilter ip_allow",
                ".include in.config",
                "map http://open.example/ http://ORIGIN/",
                ".activatefilter ip_allow",
                ".include out.config",
                "map http://after.example/ http://ORIGIN/",
                "map http://own.example/ http://ORIGIN/ @action=allow @internal",
                "map http://in.example/ http://ORIGIN/ @action=allow @in_ip=~127.0.0.1",
                "map http://patch.example/ http://ORIGIN/ @action=allow @method=GET @method=MKCOL");
        file("in.config", "map http://included.example/ http://ORIGIN/");
        file("out.config", ".deactivatefilter ip_allow", "map http://leaving.example/ http://ORIGIN/");
        file(
                "ip_allow.yaml",
                "ip_allow:",
                "  - {apply: in, ip_addrs: 127.0.0.1-127.0.0.3, action: allow, methods: ALL}",
                "  - {apply: in, ip_addrs: 127.0.0.9, action: allow, methods: [GET, MKCOL]}",
                "  - {apply: in, ip_addrs: 127.0.0.10, action: deny, methods: ALL}",
                "  - {apply: in, ip_addrs: 0/0, action: deny, methods: [PURGE, PUSH, DELETE, TRACE]}");
        for (String line :
                (files.get("remap.config") + files.get("in.config") + files.get("out.config")).split("\n", -1)) {
            if (line.startsWith("map ")) {
                everybody(line.split("/", -1)[2]);
            }
        }
        compare();
    }

    private void everybody(String host) {
        for (int address : new int[] {1, 2, 3, 9, 10, 11}) {
            for (String method : List.of("GET", "POST", "DELETE", "MKCOL")) {
                boolean unknown = address == 10 && method.equals("MKCOL");
                String differs = unknown ? "what is denied by all methods is denied by this one too" : "";
                asks.add(new Ask("127.0.0." + address, method, host, "/", List.of(), differs));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = 11)
    void filtersByChanceLetInTheSame(long seed) throws IOException {
        Random random = new Random(seed);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            lines.add(".definefilter f" + i + " " + filter(random));
        }
        int rules = 0;
        while (rules < 25) {
            String name = "f" + random.nextInt(4);
            switch (random.nextInt(8)) {
                case 0 -> lines.add(".activatefilter " + name);
                case 1 -> lines.add(".deactivatefilter " + name.toUpperCase(Locale.ROOT));
                case 2 -> lines.add((random.nextBoolean() ? ".activatefilter" : ".deactivatefilter") + " ip_allow");
                case 3 -> lines.add(".definefilter " + name + " @method=" + method(random));
                default -> {
                    String own = random.nextInt(3) == 0 ? "" : filter(random);
                    lines.add("map http://h" + rules + ".example/ http://ORIGIN/ " + own);
                    for (int address = 1; address < 8; address++) {
                        for (String method : List.of("GET", "POST", "MKCOL")) {
                            asks.add(new Ask(
                                    "127.0.0." + address, method, "h" + rules + ".example", "/", List.of(), ""));
                        }
                    }
                    rules++;
                }
            }
        }
        file("remap.config", lines.toArray(String[]::new));
        List<String> allow = new ArrayList<>(List.of("ip_allow:"));
        for (int i = random.nextInt(4); i >= 0; i--) {
            String action = random.nextBoolean() ? "allow" : "deny";
            String methods = random.nextBoolean() ? "ALL" : "[" + method(random) + ", MKCOL]";
            String addresses = i == 0 ? "0/0" : range(random);
            allow.add("  - {apply: in, ip_addrs: " + addresses + ", action: " + action + ", methods: " + methods + "}");
        }
        file("ip_allow.yaml", allow.toArray(String[]::new));
        compare();
    }

    private static String method(Random random) {
        return List.of("GET", "HEAD", "POST", "DELETE", "PUT").get(random.nextInt(5));
    }

    private static String range(Random random) {
        int first = 1 + random.nextInt(5);
        int last = first + random.nextInt(3);
        return "127.0.0." + first + (last == first ? "" : "-127.0.0." + last);
    }

    private static String filter(Random random) {
        StringBuilder filter = new StringBuilder("@action=" + (random.nextBoolean() ? "allow" : "deny"));
        for (int i = random.nextInt(4); i > 0; i--) {
            filter.append(" @src_ip=").append(random.nextInt(3) == 0 ? "~" : "").append(range(random));
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            filter.append(" @method=").append(method(random));
        }
        return filter.toString();
    }

    @Test
    void withTheDefaultConfigurationTheSameIsStored() throws IOException {
        file("remap.config", "map http://www.example.com/ http://ORIGIN/");
        cacheable();
        compare();
    }

    @Test
    void withoutRequiredHeadersAndWithNegativeCachingTheSameIsStored() throws IOException {
        file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING PORT",
                "CONFIG proxy.config.http.cache.required_headers INT 0",
                "CONFIG proxy.config.http.negative_caching_enabled INT 1",
                "CONFIG proxy.config.http.cache.cache_responses_to_cookies INT 2",
                "CONFIG proxy.config.http.cache.cache_urls_that_look_dynamic INT 0",
                "CONFIG proxy.config.http.cache.ignore_client_no_cache INT 0",
                "CONFIG proxy.config.http.cache.ignore_client_cc_max_age INT 0",
                "CONFIG proxy.config.http.cache.ignore_server_no_cache INT 1");
        file("remap.config", "map http://www.example.com/ http://ORIGIN/");
        cacheable();
        compare();
    }

    /** Each URL twice: whether the origin is asked again says whether it was stored. */
    private void cacheable() {
        String host = "www.example.com";
        fresh("/none");
        fresh("/age", "Cache-Control: max-age=60");
        fresh("/zero", "Cache-Control: max-age=0");
        fresh("/store", "Cache-Control: no-store, max-age=60");
        fresh("/private", "Cache-Control: private, max-age=60");
        fresh("/validate", "Cache-Control: no-cache, max-age=60");
        fresh("/public", "Cache-Control: public");
        fresh("/shared", "Cache-Control: s-maxage=60");
        fresh("/must", "Cache-Control: max-age=60, must-revalidate");
        fresh("/cookie", "Set-Cookie: a=b", "Cache-Control: max-age=60");
        fresh("/text", "Set-Cookie: a=b", "Cache-Control: max-age=60", "Content-Type: text/html");
        fresh("/image", "Set-Cookie: a=b", "Cache-Control: max-age=60", "Content-Type: image/png");
        fresh("/asks", "WWW-Authenticate: Basic", "Cache-Control: max-age=60");
        fresh("/star", "Vary: *", "Cache-Control: max-age=60");
        fresh("/old", "Age: 100", "Cache-Control: max-age=60");
        fresh("/expired", "Expires: Thu, 01 Jan 2015 00:00:00 GMT");
        fresh("/x.asp", "Cache-Control: max-age=60");
        fresh("/cgi-bin/x", "Cache-Control: max-age=60");
        for (String path : List.of(
                "/none",
                "/age",
                "/zero",
                "/store",
                "/private",
                "/validate",
                "/public",
                "/shared",
                "/must",
                "/cookie",
                "/text",
                "/image",
                "/asks",
                "/star",
                "/old",
                "/expired",
                "/x.asp",
                "/cgi-bin/x",
                "/age?q=1")) {
            get(host, path, path);
            if (path.equals("/validate") && files.get("records.config").contains("ignore_server_no_cache")) {
                differs("ignore_server_no_cache of version 9 is for no-cache alone, and left out");
            }
        }
        for (int status : new int[] {203, 300, 301, 302, 307, 400, 403, 404, 410, 500, 502, 503}) {
            String location = status / 100 == 3 ? "Location: http://away.example/" : "X-None: 1";
            origin.on("/bare" + status, exchange -> exchange.answer(status, "body", location));
            origin.on(
                    "/long" + status,
                    exchange -> exchange.answer(status, "body", location, "Cache-Control: max-age=60"));
            get(host, "/bare" + status, "/bare" + status, "/long" + status, "/long" + status);
        }
        fresh("/language", "Vary: Accept-Language", "Cache-Control: max-age=60");
        for (String language : List.of("de", "en", "de")) {
            ask("GET", host, "/language", "Accept-Language: " + language);
        }
        ask("GET", host, "/age", "Cache-Control: no-cache");
        ask("GET", host, "/age", "Cache-Control: max-age=0");
        ask("GET", host, "/age", "Pragma: no-cache");
        ask("HEAD", host, "/age");
        ask("POST", host, "/age");
        get(host, "/age");
        ask("PURGE", host, "/age");
        ask("PURGE", host, "/age");
        get(host, "/age");
        for (String range : List.of("bytes=0-1", "bytes=2-", "bytes=-1", "bytes=20-")) {
            ask("GET", host, "/age", "Range: " + range);
        }
    }

    @Test
    void rulesOfCacheConfigDoTheSame() throws IOException {
        List<String> names = List.of(
                "ttl", "www.ttl", "www.never", "never", "no", "server", "revalidate", "cookies", "method", "plain");
        List<String> paths =
                List.of("/a", "/cart/a", "/a.js", "/expr/a", "/none", "/store", "/validate", "/private", "/cookie");
        file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING PORT",
                "CONFIG proxy.config.hostdb.host_file.path STRING ROOT/etc/hosts");
        file(
                "hosts",
                names.stream().map(name -> "127.0.0.1 " + name + ".origin").toArray(String[]::new));
        file(
                "remap.config",
                names.stream()
                        .map(name -> "map http://" + name + ".example/ http://" + name + ".origin:THERE/")
                        .toArray(String[]::new));
        file(
                "cache.config",
                "dest_domain=ttl.origin ttl-in-cache=1h",
                "dest_host=www.never.origin prefix=cart action=never-cache",
                "dest_domain=no.origin action=ignore-no-cache",
                "dest_domain=server.origin action=ignore-server-no-cache",
                "dest_domain=revalidate.origin suffix=js revalidate=0s",
                "url_regex=/expr/ ttl-in-cache=10m",
                "dest_domain=cookies.origin cache-responses-to-cookies=0",
                "dest_domain=method.origin method=get ttl-in-cache=1h",
                "dest_domain=plain.example ttl-in-cache=1h");
        for (String path : List.of("/a", "/cart/a", "/a.js", "/expr/a")) {
            fresh(path, "Cache-Control: max-age=60");
        }
        fresh("/none");
        fresh("/store", "Cache-Control: no-store");
        fresh("/validate", "Cache-Control: no-cache");
        fresh("/private", "Cache-Control: private");
        fresh("/cookie", "Set-Cookie: a=b", "Cache-Control: max-age=60");
        for (String name : names) {
            for (String path : paths) {
                get(name + ".example", path, path);
                boolean forced = List.of("ttl", "www.ttl", "method").contains(name);
                if (forced && path.equals("/validate")) {
                    differs("ttl-in-cache is for what must be validated, too");
                } else if (forced && path.equals("/private")) {
                    differs("ttl-in-cache is not for what is one user's");
                } else if (name.equals("cookies") && path.equals("/cookie")) {
                    differs("what sets a cookie counts as an answer to one");
                }
            }
        }
        compare();
    }

    @Test
    void parentsAreAskedTheSame() throws IOException {
        file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING PORT",
                // Else it leaves out every parent at an address of this machine.
                "CONFIG proxy.config.http.parent_proxy.self_detect INT 0",
                "CONFIG proxy.config.http.no_dns_just_forward_to_parent INT 1");
        List<String> rules = new ArrayList<>();
        for (String name : List.of("strict", "first", "latched", "proxy", "dead", "half", "retry", "backup", "hosts")) {
            rules.add("map http://" + name + ".example/ http://" + name + ".internal/");
        }
        file("remap.config", rules.toArray(String[]::new));
        file(
                "parent.config",
                "dest_domain=strict.internal parent=\"ORIGIN;OTHER\" round_robin=strict parent_is_proxy=false",
                "dest_domain=first.internal parent=\"ORIGIN;OTHER\" parent_is_proxy=false",
                "dest_domain=latched.internal parent=\"ORIGIN;OTHER\" round_robin=latched parent_is_proxy=false",
                "dest_domain=proxy.internal parent=\"ORIGIN;OTHER\" round_robin=strict",
                "dest_domain=dead.internal parent=\"127.0.0.1:1\" round_robin=strict parent_is_proxy=false",
                "dest_domain=half.internal parent=\"127.0.0.1:1;OTHER\" parent_is_proxy=false",
                "dest_domain=retry.internal parent=\"ORIGIN;OTHER\" parent_is_proxy=false parent_retry=simple_retry",
                "dest_domain=backup.internal parent=\"127.0.0.1:1\" secondary_parent=\"OTHER\" round_robin=consistent_hash parent_is_proxy=false",
                "dest_domain=hosts.internal parent=\"ORIGIN\" secondary_parent=\"OTHER\" round_robin=strict parent_is_proxy=false");
        for (String name : List.of("strict", "first", "latched", "proxy", "dead", "half", "retry", "backup", "hosts")) {
            get(name + ".example", "/0", "/1?x=1", "/2");
        }
        ask("POST", "half.example", "/post");
        compare();
    }
}
