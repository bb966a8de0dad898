package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.purge.record.PurgeRecord;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Purges with the bytes that clients of Fastly's and Cloudflare's APIs send, and answers in the form of these APIs. */
class VendorPurgesTest {
    /** Hosts of the site shop, and others. */
    private static final List<String> HOSTS =
            List.of("shop.example", "www.shop.example", "a.example", "other.example", "port.example:8090");

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    @TempDir
    Path directory;

    private final AtomicInteger validations = new AtomicInteger();

    private AdminFront front;

    /** The tag of a response is the first segment of its path. */
    @BeforeEach
    void start() throws IOException {
        Path socket = directory.resolve("admin.sock");
        proxy.start(
                request -> {
                    if (request.has("If-None-Match")) {
                        validations.incrementAndGet();
                        request.send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nCache-Control: max-age=6000\r\n\r\n");
                        return;
                    }
                    String tag = request.head().split(" ", 3)[1].split("/", 3)[1];
                    request.ok(
                            "Cache-Control: max-age=6000\r\nETag: \"1\"\r\nSurrogate-Key: " + tag + "\r\n",
                            RawInput.latin1("answer"));
                },
                config -> LimitedTokensTest.sites(config, proxy.origin().url())
                        .map("http://port.example:8090/", proxy.origin().url())
                        .set("admin.socket", socket.toString()));
        front = AdminFront.of(directory, socket);
        for (String host : HOSTS) {
            get(host, "/t1/x");
            get(host, "/t2/x");
        }
    }

    @AfterEach
    void close() {
        front.close();
    }

    private boolean get(String host, String path) throws IOException {
        int before = proxy.origin().requests();
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                    .response();
        }
        proxy.settle();
        return proxy.origin().requests() == before;
    }

    /** Returns the URLs without scheme that are no hits. */
    private String missing() throws IOException {
        StringBuilder missing = new StringBuilder();
        for (String host : HOSTS) {
            for (String path : List.of("/t1/x", "/t2/x")) {
                if (!get(host, path)) {
                    missing.append(' ').append(host).append(path);
                }
            }
        }
        return missing.toString().strip();
    }

    private static String withBody(String head, String body) {
        return head + "Content-Length: " + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body;
    }

    /** The command of Fastly's reference for the purge of one surrogate key. */
    @Test
    void fastlyPurgesOneKey() throws IOException {
        RawClient.Response response = front.send("POST /service/shop/purge/t1 HTTP/1.1\r\nHost: 127.0.0.1:9090\r\n"
                + "User-Agent: curl/7.88.1\r\nFastly-Key: TOKEN-sites\r\nAccept: application/json\r\n\r\n");
        assertEquals(200, response.status(), response.text());
        assertTrue(response.text().matches("\\{\"status\":\"ok\",\"id\":\"s[0-9a-z]+\"}"), response.text());
        assertEquals("shop.example/t1/x www.shop.example/t1/x", missing());
    }

    /** As Drupal's module Fastly and the plugin for Magento send it: several keys in a field, softly, with an empty body. */
    @Test
    void fastlyPurgesKeysOfAFieldSoftly() throws IOException {
        RawClient.Response response = front.send("POST /service/shop/purge HTTP/1.1\r\nHost: 127.0.0.1:9090\r\n"
                + "User-Agent: GuzzleHttp/7\r\nAccept: application/json\r\nFastly-Key: TOKEN-sites\r\n"
                + "Fastly-Soft-Purge: 1\r\nSurrogate-Key: t1 t3\r\nContent-Length: 0\r\n\r\n");
        assertEquals(200, response.status(), response.text());
        assertTrue(response.text().matches("\\{\"t1\":\"s[0-9a-z]+\",\"t3\":\"s[0-9a-z]+\"}"), response.text());
        assertEquals("shop.example/t1/x www.shop.example/t1/x", missing());
    }

    /** The command of Fastly's reference for several keys. */
    @Test
    void fastlyPurgesKeysOfABody() throws IOException {
        RawClient.Response response = front.send(withBody(
                "POST /service/shop/purge HTTP/1.1\r\nHost: 127.0.0.1:9090\r\nUser-Agent: curl/7.88.1\r\n"
                        + "Fastly-Key: TOKEN-sites\r\nContent-Type: application/json\r\nAccept: application/json\r\n",
                "{\"surrogate_keys\":[\"t1\",\"t2\"]}"));
        assertEquals(200, response.status(), response.text());
        assertEquals("shop.example/t1/x shop.example/t2/x www.shop.example/t1/x www.shop.example/t2/x", missing());
    }

    @Test
    void fastlyPurgesEverythingOfTheSite() throws IOException {
        RawClient.Response response = front.send("POST /service/shop/purge_all HTTP/1.1\r\nHost: 127.0.0.1:9090\r\n"
                + "Fastly-Key: TOKEN-sites\r\nAccept: application/json\r\n\r\n");
        assertEquals(200, response.status(), response.text());
        List<PurgeRecord> records = proxy.proxy().shared().purges().latest(null, 2);
        assertEquals(
                "{\"status\":\"ok\",\"id\":\"" + records.get(1).id() + ", "
                        + records.get(0).id() + "\"}",
                response.text());
        assertEquals("shop.example/t1/x shop.example/t2/x www.shop.example/t1/x www.shop.example/t2/x", missing());
    }

    /** The command of Cloudflare's reference, with its two ways to name the key, and the requests of cloudflare-php. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/client/v4/zones/shop/purge_cache | Authorization: Bearer TOKEN-sites | {'files':['http://shop.example/t1/x']} | shop.example/t1/x",
                "/client/v4/zones/shop/purge_cache | X-Auth-Email: ops@a.example\\r\\nX-Auth-Key: TOKEN-sites | {'tags':['t1','t9']} | shop.example/t1/x www.shop.example/t1/x",
                "/zones/shop/purge_cache | Authorization: Bearer TOKEN-sites | {'files':[{'url':'http://shop.example/t2/x','headers':{'Origin':'http://shop.example'}},'http://www.shop.example/t1/x']} | shop.example/t2/x www.shop.example/t1/x",
                "/zones/shop/purge_cache | Authorization: Bearer TOKEN-sites | {'files':['https://shop.example/t1/x']} | shop.example/t1/x",
                "/zones/shop/purge_cache | Authorization: Bearer TOKEN-sites | {'hosts':['www.shop.example']} | www.shop.example/t1/x www.shop.example/t2/x",
                "/zones/shop/purge_cache | Authorization: Bearer TOKEN-sites | {'prefixes':['www.shop.example/t2']} | www.shop.example/t2/x",
                "/zones/a.example/purge_cache | Authorization: Bearer TOKEN-sites | {'purge_everything':true} | a.example/t1/x a.example/t2/x",
                "/zones/port.example/purge_cache | Authorization: Bearer TOKEN-admin | {'purge_everything':true} | port.example:8090/t1/x port.example:8090/t2/x",
                "/zones/other.example/purge_cache | Authorization: Bearer TOKEN-tags | {'tags':['t1']} | other.example/t1/x"
            })
    void cloudflarePurges(String path, String credential, String body, String expected) throws IOException {
        RawClient.Response response = front.send(withBody(
                "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1:9090\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n"
                        + credential.replace("\\r\\n", "\r\n") + "\r\nContent-Type: application/json\r\n",
                body.replace('\'', '"')));
        assertEquals(200, response.status(), response.text());
        assertTrue(
                response.text()
                        .matches(
                                "\\{\"success\":true,\"errors\":\\[],\"messages\":\\[],\"result\":\\{\"id\":\"([0-9a-z]+)\",\"purges\":\\[\"\\1\"(,\"[0-9a-z]+\")*]}}"),
                response.text());
        assertEquals(expected, missing());
        assertEquals(0, validations.get());
    }

    /** The identifiers are in the order of the request, and each of them is that of a recorded purge. */
    @Test
    void cloudflareAnswersWithTheIdentifierOfEveryPurge() throws IOException {
        RawClient.Response response = front.request(
                "sites",
                "POST",
                "/zones/shop/purge_cache",
                "{\"files\":[\"http://shop.example/t1/x\",\"http://shop.example/t2/x\",\"http://www.shop.example/t1/x\"]}");
        List<PurgeRecord> records = proxy.proxy().shared().purges().latest(null, 9);
        String ids = String.join(
                "\",\"",
                List.of(
                        idOf("http://shop.example/t1/x", records),
                        idOf("http://shop.example/t2/x", records),
                        idOf("http://www.shop.example/t1/x", records)));
        assertTrue(
                response.text()
                        .endsWith("\"result\":{\"id\":\"" + idOf("http://shop.example/t1/x", records)
                                + "\",\"purges\":[\"" + ids + "\"]}}"),
                response.text());
    }

    private static String idOf(String target, List<PurgeRecord> records) {
        return records.stream()
                .filter(record -> record.target().equals(target))
                .findFirst()
                .orElseThrow()
                .id();
    }

    /** Clients that ask for a soft purge expect that the stored responses are kept and validated. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/service/shop/purge/t1 | '' | shop.example/t1/x www.shop.example/t1/x",
                "/service/shop/purge | {'surrogate_keys':['t1','t2']} | shop.example/t1/x shop.example/t2/x www.shop.example/t1/x www.shop.example/t2/x",
                "/service/shop/purge_all | '' | shop.example/t1/x shop.example/t2/x www.shop.example/t1/x www.shop.example/t2/x",
                "/zones/shop/purge_cache | {'files':['http://shop.example/t1/x',{'url':'http://www.shop.example/t2/x'}]} | shop.example/t1/x www.shop.example/t2/x",
                "/client/v4/zones/shop/purge_cache | {'tags':['t1']} | shop.example/t1/x www.shop.example/t1/x",
                "/zones/shop/purge_cache | {'hosts':['www.shop.example']} | www.shop.example/t1/x www.shop.example/t2/x",
                "/zones/shop/purge_cache | {'prefixes':['www.shop.example/t2']} | www.shop.example/t2/x",
                "/zones/shop/purge_cache | {'purge_everything':true} | shop.example/t1/x shop.example/t2/x www.shop.example/t1/x www.shop.example/t2/x"
            })
    void fastlySoftPurgeMakesEveryPurgeSoft(String path, String body, String expected) throws IOException {
        RawClient.Response response = front.send(withBody(
                "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1:9090\r\nAuthorization: Bearer TOKEN-sites\r\n"
                        + "Fastly-Soft-Purge: 1\r\n",
                body.replace('\'', '"')));
        assertEquals(200, response.status(), response.text());
        for (PurgeRecord record : proxy.proxy().shared().purges().latest(null, 9)) {
            assertTrue(record.soft(), record.toString());
        }
        assertEquals(expected, missing());
        assertEquals(expected.split(" ").length, validations.get());
    }

    /** A URL with a wrong host or port was never stored, so the answer names the error. */
    @ParameterizedTest
    @CsvSource({
        "http://typo.example/a, nothing was stored; no remap rule maps this host",
        "http://port.example/a, nothing was stored; no remap rule maps this host with this port; rules map port.example:8090",
        "http://a.example/absent, nothing was stored",
        "http://a.example/t1/x, every stored variant is gone"
    })
    void aUrlThatNoRuleMapsIsNamed(String url, String detail) throws IOException {
        RawClient.Response response = front.send(withBody(
                "POST /v1/cache/purge HTTP/1.1\r\nHost: 127.0.0.1:9090\r\nAuthorization: Bearer TOKEN-admin\r\n"
                        + "Content-Type: application/json\r\n",
                "{\"url\":\"" + url + "\"}"));
        assertEquals(200, response.status(), response.text());
        assertTrue(response.text().contains("\"detail\":\"" + detail + "\""), response.text());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/service/other.example/purge/t1 | sites | '' | 403 | site-refused",
                "/service/unknown/purge/t1 | admin | '' | 404 | no service unknown",
                "/service/shop/purge_all | tags | '' | 403 | kind-refused",
                "/service/shop/purge | sites | '' | 400 | has no key",
                "/service/shop/purge | sites | {'keys':['t1']} | 400 | unknown member 'keys'",
                "/zones/other.example/purge_cache | sites | {'tags':['t1']} | 403 | token 'sites' does not allow a purge of other.example",
                "/zones/shop/purge_cache | sites | {'files':['http://shop.example/t1/x','http://other.example/t1/x']} | 400 | belongs to the site other.example, not to shop",
                "/zones/shop/purge_cache | admin | {'files':['http://other.example/t1/x']} | 400 | belongs to the site other.example, not to shop",
                "/zones/unknown/purge_cache | admin | {'purge_everything':true} | 404 | no zone unknown",
                "/zones/shop/purge_cache | sites | {'purge_everything':false} | 400 | must be true",
                "/zones/shop/purge_cache | sites | {'files':['shop.example/t1/x']} | 400 | not an absolute http or https URL",
                "/zones/shop/purge_cache | sites | {'files':[]} | 400 | 1 to 256 purges",
                "/zones/shop/purge_cache | sites | {'files':[7]} | 400 | wrong type",
                "/zones/shop/purge_cache | sites | {'files':[{'uri':'x'}]} | 400 | has no 'url'",
                "/zones/shop/purge_cache | sites | {'tags':['t1'],'hosts':['shop.example']} | 400 | cannot be combined",
                "/zones/shop/purge_cache | sites | {'colours':['red']} | 400 | unknown member 'colours'",
                "/zones/shop/purge_cache | sites | {} | 400 | one of the members",
                "/zones/shop/purge_cache | sites | [] | 400 | must be a JSON object",
                "/zones/shop/purge_cache | sites | '' | 400 | must be a JSON object",
                "/zones/shop/purge_cache | sites | {'tags':['t1'] | 400 | not JSON"
            })
    void whatIsRefusedPurgesNothing(String path, String token, String body, int status, String reason)
            throws IOException {
        RawClient.Response response = front.request(token, "POST", path, body.replace('\'', '"'));
        assertEquals(status, response.status(), response.text());
        assertTrue(response.text().contains(reason), response.text());
        String start = path.startsWith("/service/") ? "{\"msg\":" : "{\"success\":false,\"errors\":[{\"code\":";
        assertTrue(response.text().startsWith(start), response.text());
        assertEquals("", missing());
    }
}
