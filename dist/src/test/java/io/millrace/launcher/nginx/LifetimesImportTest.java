package io.millrace.launcher.nginx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.sun.net.httpserver.HttpServer;
import io.millrace.launcher.importing.ImportedRequests;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests with a running proxy how long responses are stored under imported lifetimes. */
final class LifetimesImportTest {
    private static final Pattern HIT = Pattern.compile("; hit; ttl=(\\d+)");

    @TempDir
    Path directory;

    private HttpServer origin;

    /** Starts an origin whose response has the status and the field that the query names: {@code ?404&Name=value}. */
    @BeforeEach
    void start() throws IOException {
        origin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        origin.createContext("/", exchange -> {
            String[] words = exchange.getRequestURI().getQuery().split("&", -1);
            for (int i = 1; i < words.length; i++) {
                int end = words[i].indexOf('=');
                exchange.getResponseHeaders().add(words[i].substring(0, end), words[i].substring(end + 1));
            }
            exchange.sendResponseHeaders(Integer.parseInt(words[0]), -1);
            exchange.close();
        });
        origin.start();
    }

    @AfterEach
    void stop() {
        origin.stop(0);
    }

    /**
     * @param lines directives of the location
     * @param expected queries, each with the lifetime of the response: {@code day}, {@code minute} or less than that, or
     *     {@code none} if the next request is not answered from the cache
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            proxy_cache_valid 200 1d;                                                    | 200 day, 301 none, 308 none, 404 none, 301&Cache-Control=max-age=60 minute
            proxy_cache_valid 200 1d; proxy_cache_valid 301 404 1m;                      | 200 day, 301 minute, 404 minute
            proxy_cache_valid 200 1d; proxy_cache_valid any 1m;                          | 200 day, 203 minute, 300 minute, 308 minute, 414 minute, 501 minute
            IGNORE Cache-Control Expires; proxy_cache_valid 200 1d;                      | 200 day, 200&Cache-Control=max-age=0 day, 200&Expires=0 day, 200&Cache-Control=no-store day, 404 none
            IGNORE Cache-Control Expires; proxy_cache_valid 200 1d;                      | 200&Cache-Control=private none, 200&Cache-Control=max-age=0&Set-Cookie=a=b none
            IGNORE Cache-Control Expires; proxy_cache_valid 200 1d; proxy_cache_valid 404 1m; | 404 minute, 404&Cache-Control=max-age=86400 minute, 200&Cache-Control=max-age=9 day
            IGNORE Cache-Control Expires; proxy_cache_valid 200 1d; proxy_cache_valid any 1m; | 500 minute, 503&Expires=0 minute, 302 minute, 200 day
            IGNORE Cache-Control Expires; proxy_cache_valid 200 1d; proxy_cache_valid 404 0;  | 404 none, 404&Cache-Control=max-age=86400 none
            IGNORE Expires; proxy_cache_valid 200 1d;                                    | 200&Expires=0 day, 200&Cache-Control=max-age=60 minute, 200&Expires=0&Cache-Control=no-store none
            """)
    void statusesHaveTheirLifetimes(String lines, String expected) throws IOException {
        String location = "location / {\nproxy_cache z;\n" + lines + "\nproxy_pass ORIGIN;\n}\n";
        assertEquals(expected, lifetimes(location, expected));
    }

    /**
     * @param outer directives of the location whose rule the location with an expression shares
     * @param lines directives of the location with an expression for paths that end with {@code .css}
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ''               | proxy_cache_valid 200 1d;                            | /s.css?200 day, /?200 none, /?200&Cache-Control=max-age=60 none, /s.css?301 none, /s.css?308 none, /s.css?404 none
            ''               | proxy_cache_valid 200 1d;                            | /s.css?301&Cache-Control=max-age=60 minute, /s.css?200&Cache-Control=max-age=60 minute, /s.css?200&Cache-Control=max-age=0 none
            ''               | proxy_cache_valid 200 1d;                            | /s.css?200&Set-Cookie=a=b none, /s.css?200&Cache-Control=no-store none, /s.css?200&Cache-Control=private none
            ''               | proxy_cache_valid 200 1d; proxy_cache_valid 301 404 1m; | /s.css?200 day, /s.css?301 minute, /s.css?404 minute, /s.css?308 none
            ''               | IGNORE Set-Cookie; proxy_cache_valid 200 1d;         | /s.css?200&Set-Cookie=a=b day, /s.css?200&Cache-Control=max-age=0 none
            ''               | IGNORE Cache-Control Expires; proxy_cache_valid 200 1d; | /s.css?200 day, /s.css?200&Cache-Control=max-age=0 day, /s.css?200&Expires=0 day, /s.css?200&Cache-Control=no-store day
            ''               | IGNORE Cache-Control Expires; proxy_cache_valid 200 1d; | /s.css?301 none, /s.css?200&Cache-Control=private none, /s.css?200&Set-Cookie=a=b none, /?200 none
            proxy_cache z; proxy_cache_valid 200 1m; | IGNORE Cache-Control Expires; proxy_cache_valid 200 1d; | /s.css?200 day, /s.css?200&Cache-Control=max-age=9 day, /?200 minute, /s.css?301 none, /s.css?200&Set-Cookie=a=b none
            proxy_cache z; proxy_cache_valid 200 1m; IGNORE Cache-Control Expires; | proxy_cache_valid 200 1d; | /s.css?200&Cache-Control=max-age=0 day, /?200&Cache-Control=max-age=0 minute
            """)
    void locationsWithAnExpressionHaveTheirOwn(String outer, String lines, String expected) throws IOException {
        String locations = "location / {\n" + outer + "\nproxy_pass ORIGIN;\n}\nlocation ~ [.]css$ {\nproxy_cache z;\n"
                + lines + "\nproxy_pass ORIGIN;\n}\n";
        assertEquals(expected, lifetimes(locations, expected));
    }

    /** Two expressions in one location, and a longer location with a cache of its own. */
    @Test
    void otherCachedLocationsStayCached() throws IOException {
        String locations = """
                location / { proxy_pass ORIGIN; }
                location /own/ { proxy_cache z; proxy_cache_valid 200 1d; proxy_pass ORIGIN; }
                location ~ [.]css$ { proxy_cache z; proxy_cache_valid 200 1m; proxy_pass ORIGIN; }
                location ~ [.]js$ { proxy_cache z; proxy_cache_valid 200 1d; proxy_pass ORIGIN; }
                """;
        String expected = "/a.css?200 minute, /a.js?200 day, /a?200 none, /own/a?200 day, /own/a.css?200 minute";
        assertEquals(expected, lifetimes(locations, expected));
    }

    /** Returns the expected text with the lifetimes under the imported configuration. */
    private String lifetimes(String locations, String expected) throws IOException {
        String server = "http {\nserver {\nlisten 80;\n" + locations + "}\n}\n";
        String target = "http://127.0.0.1:" + origin.getAddress().getPort();
        Path file = Files.writeString(
                directory.resolve("nginx.conf"),
                server.replace("IGNORE", "proxy_ignore_headers").replace("ORIGIN", target));
        List<String> actual = new ArrayList<>();
        try (ImportedRequests proxy = new ImportedRequests(NginxImport.read(file, null), directory)) {
            for (String each : expected.split(", ", -1)) {
                String query = each.substring(0, each.indexOf(' '));
                String url = query.startsWith("/") ? query : "/?" + query;
                proxy.answer("GET", url, "192.0.2.1");
                String answer = proxy.answer("GET", url, "192.0.2.1");
                assertFalse(answer.contains("CDN-Cache-Control"), answer);
                actual.add(query + " " + lifetime(answer));
            }
        }
        return String.join(", ", actual);
    }

    private static String lifetime(String answer) {
        Matcher hit = HIT.matcher(answer);
        return !hit.find() ? "none" : Integer.parseInt(hit.group(1)) > 60 ? "day" : "minute";
    }
}
