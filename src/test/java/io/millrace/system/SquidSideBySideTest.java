package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.squid.SquidImport;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that an imported configuration of an accelerator has the same results as in Squid. */
@Tag("nightly")
class SquidSideBySideTest extends ImportSideBySideFixture {
    private static final String CONFIGURATION = """
            http_port 127.0.0.1:PORT accel vhost defaultsite=www.example
            cache_peer 127.0.0.1 parent THERE 0 no-query no-digest originserver name=one
            acl sites dstdomain www.example .below.example
            acl QUERY urlpath_regex ^/cgi-bin/
            http_access allow sites
            http_access deny all
            cache_peer_access one allow sites
            cache_peer_access one deny all
            cache deny QUERY
            cache_mem 16 MB
            access_log none
            cache_log /dev/null
            pid_filename none
            coredump_dir none
            visible_hostname side.example
            pinger_enable off
            refresh_pattern . 10 20% 4320
            request_header_add X-Edge one
            reply_header_add X-Frame-Options DENY sites
            reply_header_access X-Origin deny all
            """;

    private static final String SITE = """
            http_port 127.0.0.1:PORT accel vhost defaultsite=a.example
            cache_peer 127.0.0.1 parent THERE 0 no-query no-digest originserver name=one
            acl sites dstdomain a.example
            acl never urlpath_regex ^/never/
            http_access allow sites
            http_access deny all
            cache deny never
            cache_mem 16 MB
            access_log none
            cache_log /dev/null
            pid_filename none
            coredump_dir none
            visible_hostname side.example
            pinger_enable off
            refresh_pattern -i (/cgi-bin/|\\?) 0 0% 0
            refresh_pattern . 0 20% 4320
            reply_header_add X-Frame-Options DENY
            reply_header_access X-Origin deny all
            """;

    SquidSideBySideTest() {
        super("squid", List.of("/usr/sbin/squid", "/usr/bin/squid", "/usr/local/sbin/squid"));
    }

    @Override
    List<String> command(String program, Path file) {
        return List.of(program, "-N", "-f", file.toString());
    }

    @Override
    ImportResult read(Path file) {
        return SquidImport.read(file);
    }

    @Override
    Set<String> differentKinds() {
        return Set.of("gone");
    }

    private static String date() {
        return "Date: "
                + DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
                        .format(ZonedDateTime.now(ZoneOffset.UTC));
    }

    @Test
    void kindsOfResponsesAreTheSame() throws Exception {
        serveKinds("/", date(), "X-Origin: secret");
        serveKinds("/never/", date());
        origin().serves("/modified", "body", date(), "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT");
        askForKinds("a.example", "/");
        askForKinds("a.example", "/never/");
        get("a.example", "/modified", "/modified", "/modified?q", "/modified?q");
        for (String path : List.of("/fresh?a=1", "/etag?a=1", "/typed?a=1", "/shared?a=1", "/never/typed?a=1")) {
            get("a.example", path, path);
        }
        for (String codings : List.of("gzip", "gzip", "deflate", "deflate")) {
            ask("GET", "a.example", "/coded", "Accept-Encoding: " + codings);
        }
        assertTrue(asked() >= 200, "requests actual=" + asked());
        compare(SITE);
    }

    @Test
    void storedResponsesAreTheSame() throws Exception {
        // Squid does not use max-age of a response without Date.
        String date = date();
        for (String path : List.of("/fresh", "/cgi-bin/fresh")) {
            origin().serves(path, "body", date, "Cache-Control: max-age=600");
        }
        origin().serves("/fields", "body", date, "Cache-Control: max-age=600", "X-Origin: secret");
        get("www.example", "/fields", "/fields");
        origin().serves("/never", "body", date, "Cache-Control: no-store");
        origin().serves("/private", "body", date, "Cache-Control: private");
        origin().serves("/modified", "body", date, "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT");
        get("www.example", "/fresh", "/fresh", "/fresh?q=1", "/never", "/never", "/private", "/private");
        get("www.example", "/cgi-bin/fresh", "/cgi-bin/fresh", "/modified", "/modified");
        get("a.below.example", "/fresh", "/fresh");
        get("below.example", "/fresh", "/fresh");
        ask("HEAD", "www.example", "/fresh");
        ask("POST", "www.example", "/post");
        compare(CONFIGURATION);
    }
}
