package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.source.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that a proxy with imported samples of Traffic Server's manual behaves as the manual states. */
final class DocumentedSamplesTest extends ImportedProxyFixture {
    /** The target hosts of the samples; their names resolve to this machine, and each has the origin's port. */
    private static final List<String> HOSTS = List.of(
            "server.hoster.com",
            "marketing.y.com",
            "sales.y.com",
            "info.y.com",
            "external.g.com",
            "stuff.g.com",
            "server.h.com",
            "all.example.com",
            "denied.example.com",
            "real-x12.z.com",
            "x.example.com",
            "y.example.com",
            "foo.bar.com",
            "foo.example.com",
            "bar.example.com",
            "internal.example.com",
            "auth.internal.example.com",
            "origin.mydomain.com");

    /** Writes remap.config with the origin's port after each target host. */
    private void remap(String... lines) {
        List<String> written = new ArrayList<>();
        for (String line : lines) {
            String[] words = line.strip().split("\\s+", -1);
            int to = words[0].equals("reverse_map") ? 1 : 2;
            if (words.length > to && !words[0].startsWith(".") && !words[0].contains("redirect")) {
                words[to] = words[to].replaceFirst("^(http://[^/]+)", "$1:" + proxy.port());
            }
            written.add(String.join(" ", words));
        }
        samples.file("remap.config", written.toArray(String[]::new));
    }

    private void start(Map<String, String> more) throws IOException {
        Path hosts = directory.resolve("hosts");
        Files.writeString(hosts, "127.0.0.1 " + String.join(" ", HOSTS) + "\n");
        Map<String, String> all = new HashMap<>(more);
        all.put("dns.hosts_file", hosts.toString());
        all.putIfAbsent("listen", "[\"127.0.0.1:0\"]");
        proxy.start(all);
    }

    private void start() throws IOException {
        start(Map.of());
    }

    private String get(String url) throws IOException {
        String rest = url.substring("http://".length());
        int slash = rest.indexOf('/');
        return proxy.get(rest.substring(slash), rest.substring(0, slash));
    }

    /** Asserts that a request for a URL reaches the origin as a request for another URL. */
    private void assertLeads(String url, String to) throws IOException {
        assertTrue(get(url).startsWith("HTTP/1.1 "), url);
        String rest = to.substring("http://".length());
        int slash = rest.indexOf('/');
        assertEquals(
                "GET " + rest.substring(slash) + " " + rest.substring(0, slash) + ":" + proxy.port(),
                proxy.lastAsked());
    }

    private void assertStatus(int status, String answer) {
        assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), answer);
    }

    @Test
    void reverseProxyMappingRules() throws IOException {
        remap(
                "map http://www.x.com/ http://server.hoster.com/",
                "reverse_map http://server.hoster.com/ http://www.x.com/",
                "map http://www.y.com/marketing/ http://marketing.y.com/",
                "map http://www.y.com/sales/ http://sales.y.com/",
                "map http://www.y.com/stuff/ http://info.y.com/",
                "reverse_map http://info.y.com/ http://www.y.com/stuff/",
                "map http://www.g.com/ http://external.g.com/",
                "map http://www.g.com/stuff/ http://stuff.g.com/",
                "map http://www.h.com/a/b/ http://server.h.com/customers/x/y",
                "reverse_map http://server.h.com/customers/x/y/ http://www.h.com/a/b/");
        start();
        assertLeads("http://www.x.com/Widgets/index.html", "http://server.hoster.com/Widgets/index.html");
        assertLeads(
                "http://www.x.com/cgi/form/submit.sh?arg=true", "http://server.hoster.com/cgi/form/submit.sh?arg=true");
        assertLeads(
                "http://www.y.com/marketing/projects/manhattan/specs.html",
                "http://marketing.y.com/projects/manhattan/specs.html");
        assertLeads(
                "http://www.y.com/stuff/marketing/projects/boston/specs.html",
                "http://info.y.com/marketing/projects/boston/specs.html");
        assertLeads("http://www.g.com/stuff/a.gif", "http://external.g.com/stuff/a.gif");
        assertLeads("http://www.h.com/a/b/c/d/doc.html", "http://server.h.com/customers/x/y/c/d/doc.html");
        assertStatus(404, get("http://www.h.com/a/index.html"));
        String moved = get("http://www.y.com/stuff/moved");
        assertTrue(moved.contains("Location: http://www.y.com/stuff/elsewhere"), moved);
        String deep = get("http://www.h.com/a/b/c/moved");
        assertTrue(deep.contains("Location: http://www.h.com/a/b/c/elsewhere"), deep);
    }

    @Test
    void matchAllIsAskedLastWhereverItStands() throws IOException {
        remap(
                "map / http://all.example.com",
                "map http://example.com/dist_get_user http://denied.example.com/denied.html");
        start();
        assertLeads("http://example.com/a.gif", "http://all.example.com/a.gif");
        assertLeads("http://example.com/dist_get_user", "http://denied.example.com/denied.html");
    }

    @Test
    void redirectionsAndExpressions() throws IOException {
        remap(
                "redirect http://www.company.com/ http://www.company2.com/",
                "redirect_temporary http://www.company1.com/ http://www.company2.com/",
                "regex_map http://x([0-9]+).z.com/ http://real-x$1.z.com/",
                "regex_redirect http://old.(.*).z.com http://new.$1.z.com");
        start();
        String gone = get("http://www.company.com/a?b=1");
        assertStatus(301, gone);
        assertTrue(gone.contains("Location: http://www.company2.com/a?b=1"), gone);
        String temporary = get("http://www.company1.com/");
        assertStatus(307, temporary);
        assertTrue(temporary.contains("Location: http://www.company2.com/"), temporary);
        assertLeads("http://x12.z.com/p", "http://real-x12.z.com/p");
        assertTrue(get("http://old.shop.z.com/p").contains("Location: http://new.shop.z.com/p"));
    }

    @Test
    void portsThatRequestsArriveOn() throws IOException {
        InetAddress local = InetAddress.getByAddress(new byte[] {127, 0, 0, 8});
        int one;
        int other;
        try (ServerSocket first = new ServerSocket(0, 1, local);
                ServerSocket second = new ServerSocket(0, 1, local)) {
            one = first.getLocalPort();
            other = second.getLocalPort();
        }
        samples.file(
                "records.yaml",
                "records:",
                "  http:",
                "    server_ports: " + one + ":ip-in=127.0.0.8 " + other + ":ip-in=127.0.0.8");
        remap(
                "map_with_recv_port http://foo.example.com:" + one + "/ http://x.example.com/",
                "map_with_recv_port http://foo.example.com:" + other + "/ http://y.example.com/");
        start(Map.of("listen", "[\"127.0.0.8:" + one + "\", \"127.0.0.8:" + other + "\"]"));
        String request = "GET /a HTTP/1.1\r\nHost: foo.example.com\r\nConnection: close\r\n\r\n";
        assertStatus(200, proxy.ask(new InetSocketAddress(local, other), request));
        assertEquals("GET /a y.example.com:" + proxy.port(), proxy.lastAsked());
        assertStatus(200, proxy.ask(new InetSocketAddress(local, one), request));
        assertEquals("GET /a x.example.com:" + proxy.port(), proxy.lastAsked());
    }

    @Test
    void pagesThatMayLinkHere() throws IOException {
        samples.file("records.yaml", "records:", "  http:", "    referer_filter: 1");
        String to = "http://foo.bar.com/x/yy/ http://games.bar.com/new_games ";
        remap(
                "map_with_referer http://y.foo.bar.com/x/yy/  " + to + ".*\\.bar\\.com www.bar-friends.com",
                "map_with_referer http://y.foo.bar.com/evil/  " + to + "* ~.*\\.evil\\.com",
                "map_with_referer http://y.foo.bar.com/any/  " + to + "~* * ~.*\\.evil\\.com");
        start();
        assertReferer(302, "/x/yy/a", null);
        assertReferer(302, "/x/yy/a", "http://elsewhere.com/");
        assertReferer(200, "/x/yy/a", "http://www.bar.com/");
        assertReferer(200, "/x/yy/a", "http://www.bar-friends.com/");
        assertReferer(302, "/evil/a", null);
        assertReferer(200, "/evil/a", "http://elsewhere.com/");
        assertReferer(302, "/evil/a", "http://www.evil.com/");
        assertReferer(200, "/any/a", null);
        assertReferer(302, "/any/a", "http://www.evil.com/");
        assertReferer(200, "/any/a", "http://elsewhere.com/");
    }

    private void assertReferer(int status, String path, @org.jspecify.annotations.Nullable String referer)
            throws IOException {
        String[] fields = referer == null ? new String[0] : new String[] {"Referer: " + referer + "\r\n"};
        String answer = proxy.get(path, "y.foo.bar.com", fields);
        assertStatus(status, answer);
        assertEquals(status == 302, answer.contains("Location: http://games.bar.com/new_games"), answer);
    }

    @Test
    void filtersOfRules() throws IOException {
        samples.file("records.yaml", "records: {}");
        samples.file(
                "ip_allow.yaml",
                "ip_categories:",
                "  - name: ACME_INTERNAL",
                "    ip_addrs:",
                "      - 10.0.0.0/8",
                "      - 172.16.0.0/20",
                "      - 192.168.1.0/24",
                "ip_allow: [",
                "  { apply: in, ip_addrs: 127.0.0.1, action: allow },",
                "  { apply: in, ip_addrs: \"::1\", action: allow },",
                "  { apply: in, ip_addrs: 0/0, action: deny, methods: [ PURGE, PUSH, DELETE, TRACE ] },",
                "  { apply: out, ip_addrs: [ 0.0.0.0/8, \"::\", \"::ffff:0:0/96\" ], action: deny, methods: [ CONNECT ] }",
                "  ]");
        remap(
                "map http://foo.example.com/neverpost  http://foo.example.com/neverpost @action=deny @method=post",
                "map http://foo.example.com/onlypost  http://foo.example.com/onlypost @action=allow @method=post",
                "map http://foo.example.com/away  http://foo.example.com/ @action=deny @src_ip=1.2.3.4",
                "map http://foo.example.com/local  http://foo.example.com/ @action=allow @src_ip=127.0.0.1",
                "map http://foo.example.com/in  http://foo.example.com/ @action=allow @src_ip=10.5.2.1 @in_ip=72.209.23.4",
                "map http://foo.example.com/read  http://foo.example.com/ @action=allow @src_ip=127.0.0.1 @method=post @method=get @method=head",
                "map http://foo.example.com/acme  http://foo.example.com/ @action=allow @src_ip_category=ACME_INTERNAL @method=post @method=get @method=head",
                ".definefilter disable_delete_purge @action=deny @method=delete @method=purge",
                ".definefilter local_only @action=allow @src_ip=192.168.0.1-192.168.0.254 @src_ip=10.0.0.1-10.0.0.254",
                ".activatefilter disable_delete_purge",
                "map http://bar.foo.com/ http://bar.example.com/",
                ".activatefilter local_only",
                "map http://www.example.com/admin http://internal.example.com/admin",
                ".deactivatefilter local_only",
                "map http://www.example.com/ http://internal.example.com/",
                "map http://auth.example.com/ http://auth.internal.example.com/ @action=allow @internal");
        start();
        String foo = "foo.example.com";
        assertStatus(200, proxy.get("/neverpost", foo));
        assertStatus(403, proxy.ask("POST", "/neverpost", foo, "Content-Length: 0\r\n"));
        assertStatus(403, proxy.get("/onlypost", foo));
        assertStatus(200, proxy.ask("POST", "/onlypost", foo, "Content-Length: 0\r\n"));
        assertStatus(200, proxy.get("/away", foo));
        assertStatus(200, proxy.get("/local", foo));
        assertStatus(403, proxy.get("/in", foo));
        assertStatus(200, proxy.get("/read", foo));
        assertStatus(403, proxy.ask("PUT", "/read", foo, "Content-Length: 0\r\n"));
        assertStatus(403, proxy.get("/acme", foo));
        assertStatus(200, proxy.get("/", "bar.foo.com"));
        assertStatus(403, proxy.ask("DELETE", "/", "bar.foo.com"));
        assertStatus(403, proxy.get("/admin", "www.example.com"));
        assertStatus(200, proxy.get("/other", "www.example.com"));
        assertStatus(403, proxy.get("/", "auth.example.com"));
        assertStatus(403, proxy.ask("PUSH", "/away", foo, "Content-Length: 0\r\n"));
    }

    @Test
    void cacheConfig() throws IOException {
        samples.file(
                "cache.config",
                "dest_domain=mydomain.com revalidate=1h",
                "dest_domain=mydomain.com suffix=gif revalidate=6h",
                "dest_domain=mydomain.com suffix=jpeg revalidate=6h",
                "url_regex=example.com/articles/popular.* time=00:00-23:59 ttl-in-cache=1d2h",
                "url_regex=example.com/game/.* pin-in-cache=1h");
        remap(
                "map http://www.mydomain.com/ http://origin.mydomain.com/",
                "map http://www.example.com/ http://internal.example.com/");
        start();
        assertTtl(3_600, "/fresh.html", "www.mydomain.com", false);
        assertTtl(21_600, "/fresh.gif", "www.mydomain.com", false);
        assertTtl(93_600, "/articles/popular/1", "www.example.com", true);
        proxy.get("/articles/other", "www.example.com");
        proxy.get("/articles/other", "www.example.com");
        assertEquals("GET /articles/other internal.example.com:" + proxy.port(), proxy.lastAsked(), "no lifetime");
        assertEquals(
                2,
                proxy.asked().stream()
                        .filter(each -> each.contains("/articles/other"))
                        .count());
    }

    /** Asserts the lifetime of a stored response; a rule overrides the origin's lifetime. */
    private void assertTtl(long seconds, String path, String host, boolean forced) throws IOException {
        proxy.get(path, host);
        String hit = proxy.get(path, host);
        assertTrue(hit.contains("; hit"), hit);
        long left = Long.parseLong(hit.replaceFirst("(?s).*ttl=(-?\\d+).*", "$1"));
        assertTrue(left <= seconds && left > seconds - 120, () -> path + forced + ": " + hit);
    }

    @Test
    void parentsOfAHostAreAskedByItsScheme() throws IOException {
        samples.file(
                "parent.config",
                "dest_domain=. method=get parent=\"p1.x.com:8080; p2.y.com:8080\" round_robin=true",
                "url_regex=politics prefix=/viewpoint go_direct=true",
                "dest_host=example.com scheme=https parent=\"127.0.0.1:1\" round_robin=true",
                "dest_host=example.com scheme=http parent=\"127.0.0.1:1," + "127.0.0.1:" + proxy.port()
                        + "\" secondary_parent=\"127.0.0.1:2\" round_robin=consistent_hash go_direct=false");
        remap("map http://www.example.com/ http://example.com/", "map http://foo.com/ http://foo.example.com/");
        start();
        assertStatus(200, proxy.get("/a", "www.example.com"));
        String authority = "example.com:" + proxy.port();
        assertEquals("GET http://" + authority + "/a " + authority, proxy.lastAsked());
        assertEquals(Outcome.NOT_MAPPED, samples.line("parent.config", 1).outcome());
        assertLeads("http://foo.com/a", "http://foo.example.com/a");
    }
}
