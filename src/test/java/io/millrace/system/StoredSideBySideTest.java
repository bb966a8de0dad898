package io.millrace.system;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that the same responses are stored as in Traffic Server, with records of several kinds and with lines of
 * cache.config.
 */
@Tag("nightly")
class StoredSideBySideTest extends SideBySideFixture {
    private static final String HOST = "www.example.com";

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

    /** Requests each URL twice: a second request to the origin shows that the response was not stored. */
    private void cacheable() {
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
        eachTwice();
        statuses();
        languages();
        requestsForOne();
    }

    private void eachTwice() {
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
            get(HOST, path, path);
            if (path.equals("/validate") && files.get("records.config").contains("ignore_server_no_cache")) {
                differs("ignore_server_no_cache of version 9 is for no-cache alone, and left out");
            }
        }
    }

    private void statuses() {
        for (int status : new int[] {203, 300, 301, 302, 307, 400, 403, 404, 410, 500, 502, 503}) {
            String location = status / 100 == 3 ? "Location: http://away.example/" : "X-None: 1";
            origin.on("/bare" + status, exchange -> exchange.answer(status, "body", location));
            origin.on(
                    "/long" + status,
                    exchange -> exchange.answer(status, "body", location, "Cache-Control: max-age=60"));
            get(HOST, "/bare" + status, "/bare" + status, "/long" + status, "/long" + status);
        }
    }

    private void languages() {
        fresh("/language", "Vary: Accept-Language", "Cache-Control: max-age=60");
        for (String language : List.of("de", "en", "de")) {
            ask("GET", HOST, "/language", "Accept-Language: " + language);
        }
    }

    private void requestsForOne() {
        ask("GET", HOST, "/age", "Cache-Control: no-cache");
        ask("GET", HOST, "/age", "Cache-Control: max-age=0");
        ask("GET", HOST, "/age", "Pragma: no-cache");
        ask("HEAD", HOST, "/age");
        ask("POST", HOST, "/age");
        get(HOST, "/age");
        ask("PURGE", HOST, "/age");
        ask("PURGE", HOST, "/age");
        get(HOST, "/age");
        for (String range : List.of("bytes=0-1", "bytes=2-", "bytes=-1", "bytes=20-")) {
            ask("GET", HOST, "/age", "Range: " + range);
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
}
