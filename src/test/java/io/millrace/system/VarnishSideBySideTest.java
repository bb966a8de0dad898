package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.varnish.VarnishImport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that an imported VCL file has the same results as in Varnish, which needs a C compiler. */
@Tag("nightly")
class VarnishSideBySideTest extends ImportSideBySideFixture {
    private static final String VCL = """
            vcl 4.1;
            acl nobody { "192.0.2.1"; }
            backend default { .host = "127.0.0.1"; .port = "THERE"; }
            sub vcl_recv {
                if (client.ip ~ nobody) { return (synth(403)); }
                if (req.method !~ "^(GET|HEAD|POST)$") { return (synth(405)); }
                if (req.url ~ "^/private/") { return (synth(403)); }
                if (req.url ~ "^/(admin|cart)") { return (pass); }
                set req.http.X-Edge = "one";
                if (req.url ~ "\\.(css|png)$") { unset req.http.Cookie; }
            }
            sub vcl_deliver {
                if (resp.status == 200) { set resp.http.X-Frame-Options = "DENY"; }
                unset resp.http.X-Origin;
            }
            sub vcl_backend_response {
                if (bereq.url ~ "\\.(css|png)$") { unset beresp.http.Set-Cookie; set beresp.ttl = 1h; }
            }
            """;

    private static final String SITE = """
            vcl 4.1;
            backend default { .host = "127.0.0.1"; .port = "THERE"; }
            sub vcl_recv {
                if (req.url ~ "^/closed/") { return (synth(403)); }
                if (req.url ~ "^/old/") { return (synth(750, "http://a.example/new")); }
                if (req.http.User-Agent ~ "badbot") { return (synth(403)); }
                if (req.url ~ "^/pass/") { return (pass); }
                if (req.method != "GET" && req.method != "HEAD") { return (pass); }
                unset req.http.Cookie;
                return (hash);
            }
            sub vcl_synth {
                if (resp.status == 750) {
                    set resp.http.Location = resp.reason;
                    set resp.status = 301;
                    return (deliver);
                }
            }
            sub vcl_backend_response {
                if (bereq.url ~ "^/hour/") { set beresp.ttl = 1h; }
                set beresp.grace = 1m;
            }
            sub vcl_deliver {
                if (resp.status == 200) { set resp.http.X-Frame-Options = "DENY"; }
                unset resp.http.X-Origin;
            }
            """;

    VarnishSideBySideTest() {
        super("varnish", List.of("/usr/sbin/varnishd", "/usr/bin/varnishd", "/usr/local/sbin/varnishd"));
    }

    @Override
    List<String> command(String program, Path file) {
        return List.of(
                program,
                "-F",
                "-j",
                "none",
                "-a",
                "127.0.0.1:" + port(),
                "-f",
                file.toString(),
                "-n",
                root().resolve("work").toString(),
                "-s",
                "malloc,32m");
    }

    @Override
    ImportResult read(Path file) {
        return VarnishImport.read(file);
    }

    @Override
    Map<String, String> settings() {
        return Map.of("listen", "[\"127.0.0.1:" + port() + "\"]");
    }

    @Test
    void kindsOfResponsesAreTheSame() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "SKIPPED: no C compiler");
        serveKinds("/", "X-Origin: secret");
        serveKinds("/hour/");
        serveKinds("/pass/");
        askForKinds("a.example", "/");
        askForKinds("a.example", "/hour/");
        get("a.example", "/pass/fresh", "/pass/fresh", "/pass/private", "/closed/x", "/old/x");
        for (String path : List.of("/public", "/etag", "/dated", "/hour/public", "/hour/etag", "/hour/dated")) {
            ask("GET", "a.example", path, "Range: bytes=0-0");
        }
        ask("GET", "a.example", "/fresh", "User-Agent: badbot");
        assertTrue(asked() >= 200, "requests actual=" + asked());
        compare(SITE);
    }

    @Test
    void storedResponsesAreTheSame() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "SKIPPED: no C compiler");
        for (String path : List.of("/fresh", "/admin/fresh", "/cart", "/private/x")) {
            origin().serves(path, "body", "Cache-Control: max-age=600");
        }
        origin().serves("/plain", "body", "X-Any: 1");
        origin().serves("/never", "body", "Cache-Control: no-store");
        origin().serves("/a.css", "body", "X-Any: 1");
        origin().serves("/b.png", "body", "Set-Cookie: c=d");
        origin().serves("/cookie", "body", "Set-Cookie: c=d", "Cache-Control: max-age=600");
        get("a.example", "/fresh", "/fresh", "/fresh?q", "/plain", "/plain", "/never", "/never");
        get("b.example", "/fresh", "/fresh");
        get("a.example", "/admin/fresh", "/admin/fresh", "/cart", "/cart", "/private/x");
        get("a.example", "/a.css", "/a.css", "/b.png", "/b.png", "/cookie", "/cookie");
        for (String path : List.of("/fresh", "/a.css", "/b.png")) {
            ask("GET", "a.example", path, "Cookie: x=y");
            ask("GET", "a.example", path, "Cookie: x=z");
        }
        ask("GET", "a.example", "/fresh", "Cache-Control: no-cache");
        ask("HEAD", "a.example", "/fresh");
        ask("POST", "a.example", "/fresh");
        ask("DELETE", "a.example", "/fresh");
        compare(VCL);
    }
}
