package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that a proxy with an imported configuration behaves as the articles about Traffic Server describe. */
final class ImportedProxyTest extends ImportedProxyFixture {
    @Test
    void blogOf2011IsMappedCachedWithoutLifetimeAndSaysSoInVia() throws IOException {
        samples.file(
                "records.config",
                "CONFIG proxy.config.proxy_name STRING wv-tmp2",
                "CONFIG proxy.config.url_remap.pristine_host_hdr INT 1",
                "CONFIG proxy.config.http.cache.required_headers INT 0",
                "CONFIG proxy.config.http.insert_response_via_str INT 1",
                "CONFIG proxy.config.http.verbose_via_str INT 2",
                "CONFIG proxy.config.header.parse.no_host_url_redirect STRING http://www.blog.example/");
        samples.file(
                "remap.config",
                "map http://www.blog.example/ http://127.0.0.1:" + proxy.port() + "/",
                "reverse_map http://127.0.0.1:" + proxy.port() + "/ http://www.blog.example/",
                "regex_map http://([a-z\\-0-9]+)\\.sites\\.example http://127.0.0.1:" + proxy.port() + "/?request=$1",
                "map http://cdn.blog.example/js/ http://127.0.0.1:" + proxy.port()
                        + "/scripts/ @action=allow @src_ip=192.0.2.1");
        proxy.start();

        String first = proxy.get("/a", "www.blog.example");
        assertTrue(first.startsWith("HTTP/1.1 200"), first);
        assertTrue(first.contains("wv-tmp2") && first.contains("[uScMs"), first);
        String second = proxy.get("/a", "www.blog.example");
        assertTrue(second.contains("cCH") && second.contains("Cache-Status: wv-tmp2; hit"), second);
        assertEquals(List.of("GET /a www.blog.example"), proxy.asked());

        assertTrue(proxy.get("/moved", "www.blog.example").contains("Location: http://www.blog.example/elsewhere"));
        assertTrue(proxy.get("/x", "one.sites.example").contains("origin of /"));
        assertTrue(proxy.lastAsked().contains("request=one"), proxy.asked()::toString);
        assertTrue(proxy.get("/js/x.js", "cdn.blog.example").startsWith("HTTP/1.1 403"));
        assertTrue(proxy.get("/a", "unknown.example").startsWith("HTTP/1.1 404"));
        String noHost = proxy.ask("GET /a HTTP/1.0\r\n\r\n");
        assertTrue(noHost.contains(" 302 ") && noHost.contains("Location: http://www.blog.example/"), noHost);
    }

    @Test
    void withTrafficServersDefaultsResponsesWithoutALifetimeAreNotStoredAndTheHostIsTheOrigins() throws IOException {
        samples.file("remap.config", "map http://www.blog.example/ http://127.0.0.1:" + proxy.port() + "/");
        proxy.start();
        proxy.get("/a", "www.blog.example");
        String second = proxy.get("/a", "www.blog.example");
        assertEquals(2, proxy.asked().size());
        assertEquals("GET /a 127.0.0.1:" + proxy.port(), proxy.asked().get(0));
        assertFalse(second.contains("\r\nVia:"), second);
        assertTrue(second.contains("\r\nServer: "), second);
    }

    @Test
    void errorsAreStoredWhereNegativeCachingIsOn() throws IOException {
        samples.file("records.config", "CONFIG proxy.config.http.negative_caching_enabled INT 1");
        samples.file("remap.config", "map / http://127.0.0.1:" + proxy.port() + "/");
        proxy.start();
        assertTrue(proxy.get("/missing", "a.example").startsWith("HTTP/1.1 404"));
        assertTrue(proxy.get("/missing", "a.example").startsWith("HTTP/1.1 404"));
        assertEquals(1, proxy.asked().size());
    }

    @Test
    void benchmarkOf2010ListensAtOneAddressAndEndsIdleConnectionsInTime() throws IOException {
        InetAddress local = InetAddress.getByAddress(new byte[] {127, 0, 0, 7});
        int free;
        try (ServerSocket probe = new ServerSocket(0, 1, local)) {
            free = probe.getLocalPort();
        }
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.server_port INT " + free,
                "LOCAL proxy.local.incoming_ip_to_bind STRING 127.0.0.7",
                "CONFIG proxy.config.http.keep_alive_no_activity_timeout_in INT 1",
                "CONFIG proxy.config.http.keep_alive_no_activity_timeout_out INT 1");
        samples.file("remap.config", "map / http://127.0.0.1:" + proxy.port() + "/");
        proxy.start(Map.of());
        assertEquals(List.of(new InetSocketAddress(local, free)), proxy.addresses());
        // Ends when the proxy closes the connection, which the request does not demand.
        String answer = proxy.ask("GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n");
        assertTrue(answer.endsWith("origin of /a"), answer);
        assertFalse(answer.contains("Connection: close"), answer);
    }

    @Test
    void wordPressOf2012LogsAsApacheAndMayPurgeFromItsOwnMachine() throws IOException {
        samples.file(
                "records.config",
                "CONFIG proxy.config.http.cache.required_headers INT 0",
                "CONFIG proxy.config.log.custom_logs_enabled INT 1",
                "CONFIG proxy.config.log.logfile_dir STRING " + directory);
        samples.file(
                "logs_xml.config",
                "<LogFormat>",
                "  <Name = \"apache\"/>",
                "  <Format = \"%<chi> - - [%<cqtn>] \\\"%<cqhm> %<cquup>\\\" %<pssc> %<psql> \\\"%<{Referer}cqh>\\\" \\\"%<{User-Agent}cqh>\\\"\"/>",
                "</LogFormat>",
                "<LogObject>",
                "  <Format = \"apache\"/>",
                "  <Filename = \"access\"/>",
                "  <Mode = \"ascii\"/>",
                "</LogObject>");
        samples.file(
                "ip_allow.config",
                "src_ip=127.0.0.1 action=ip_allow method=ALL",
                "src_ip=0.0.0.0-255.255.255.255 action=ip_deny method=PUSH|PURGE|DELETE");
        samples.file("remap.config", "map / http://127.0.0.1:" + proxy.port() + "/");
        proxy.start(Map.of("listen", "[\"127.0.0.1:0\"]", "log.access.enabled", "true"));
        proxy.get("/a", "a.example", "Referer: http://r.example/\r\n", "User-Agent: ab\r\n");
        String purge = "PURGE /a HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
        assertTrue(proxy.ask(purge).startsWith("HTTP/1.1 200"));
        assertTrue(proxy.ask(purge).startsWith("HTTP/1.1 404"));
        proxy.stop();
        List<String> lines = Files.readAllLines(directory.resolve("access.log"));
        assertTrue(
                lines.get(0)
                        .matches("127\\.0\\.0\\.1 - - \\[[^]]+] \"GET /a\" 200 \\d+ \"http://r\\.example/\" \"ab\""),
                lines::toString);
        assertEquals(3, lines.size());
    }

    @Test
    void nodeOf2012IsForwardProxyForItsOwnNetworkAlone() throws IOException {
        samples.file("records.config", "CONFIG proxy.config.url_remap.remap_required INT 0");
        samples.file(
                "ip_allow.config",
                "src_ip=192.0.2.0/24 action=ip_allow",
                "src_ip=127.0.0.1 action=ip_deny method=DELETE");
        proxy.start(Map.of("listen", "[\"127.0.0.1:0\"]", "forward_proxy.allow", "192.0.2.0/24"));
        String answer = proxy.get("http://127.0.0.1:" + proxy.port() + "/a", "127.0.0.1:" + proxy.port());
        assertTrue(answer.startsWith("HTTP/1.1 403"), answer);
        assertEquals(List.of(), proxy.asked());
    }
}
