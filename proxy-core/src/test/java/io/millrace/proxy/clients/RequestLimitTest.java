package io.millrace.proxy.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.millrace.proxy.config.access.RequestLimitConfig;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestLimitTest {
    private static final IpAddress CLIENT = IpAddress.of(new byte[] {10, 0, 0, 1});

    private final KeyHash hash = new KeyHash(1, 2);

    private static RequestLimit limit(String... key) {
        RequestLimitConfig config = RequestLimitConfig.read(
                ConfigValues.builder()
                        .set(RequestLimitKeys.NAME, "a")
                        .set(RequestLimitKeys.RATE, "10/m")
                        .set(RequestLimitKeys.BURST, 5)
                        .set(RequestLimitKeys.KEY, List.of(key))
                        .build(),
                (name, message) -> {
                    throw new AssertionError(name + ": " + message);
                });
        return new RequestLimit(config);
    }

    private static RequestHead request(String url, String... fields) {
        FieldSection.Builder section = FieldSection.builder();
        for (int i = 0; i < fields.length; i += 2) {
            section.add(fields[i], fields[i + 1]);
        }
        return RequestHead.of("GET", (TargetUri) TargetUri.parseAbsolute(url), section.build());
    }

    private long key(RequestLimit limit, RequestHead request) {
        return limit.key(hash, request, CLIENT);
    }

    @Test
    void valuesForResponses() {
        RequestLimit limit = limit("client");
        assertEquals("\"a\";q=5;w=30", limit.policy());
        assertEquals("\"a\";r=0;t=6", limit.state(6));
        assertEquals("request-limit:a", limit.detail());
    }

    /** Cookies, parameters and fields of two requests, and whether they are counted together. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "param['k']        # http://a/?k=1&x=y   # X-A: b      # http://b/?z=&k=1   # X-A: c      # true",
                "param['k']        # http://a/?k=1       # X-A: b      # http://a/?k=11     # X-A: b      # false",
                "param['k']        # http://a/?kk=1&k=2  # X-A: b      # http://a/?k=2      # X-A: b      # true",
                "param['k']        # http://a/?k         # X-A: b      # http://a/?k=       # X-A: b      # true",
                "cookie['s']       # http://a/           # Cookie: x=1; s=2 # http://a/  # Cookie: s=2; x=3 # true",
                "cookie['s']       # http://a/           # Cookie: s=2 # http://a/          # Cookie: s=3 # false",
                "cookie['s']       # http://a/           # Cookie: s=2 # http://a/          # Cookie: s   # false",
                "request_header['x-a'] # http://a/       # X-A: b      # http://b/          # x-a: b      # true",
                "request_header['X-A'] # http://a/       # X-A: 123456789 # http://a/  # x-a: 123456780 # false",
                "host              # http://a/x          # X-A: b      # http://A/y         # X-A: c      # true",
                "host              # http://a/x          # X-A: b      # http://b/x         # X-A: b      # false",
                "all               # http://a/x          # X-A: b      # http://b/y         # X-A: c      # true",
            })
    void sameValuesAreCountedTogether(String key, String one, String field, String other, String second, boolean same) {
        RequestLimit limit = limit(key.replace('\'', '"'));
        long first = key(limit, request(one, field.split(": ", 2)));
        long next =
                key(limit, request(other, second.contains(": ") ? second.split(": ", 2) : new String[] {second, ""}));
        assertNotEquals(0, first);
        assertNotEquals(0, next);
        assertEquals(same, first == next);
    }

    @ParameterizedTest
    @CsvSource({"param[\"k\"]", "cookie[\"k\"]", "request_header[\"k\"]"})
    void aRequestWithoutTheValueIsNotCounted(String key) {
        assertEquals(0, key(limit(key, "client"), request("http://a/?q=k", "Cookie", "kk=1; q=k")));
    }

    @Test
    void theFirst64BitsOfIpv6AreCountedTogether() {
        RequestLimit limit = limit("client");
        RequestHead request = request("http://a/");
        long one = limit.key(hash, request, new IpAddress(1, 2));
        assertEquals(one, limit.key(hash, request, new IpAddress(1, 3)));
        assertNotEquals(one, limit.key(hash, request, new IpAddress(2, 2)));
        assertNotEquals(
                limit.key(hash, request, CLIENT), limit.key(hash, request, IpAddress.of(new byte[] {10, 0, 0, 2})));
        assertEquals(0, limit.key(hash, request, null));
    }

    @Test
    void severalPartsAreOneKey() {
        RequestLimit limit = limit("host", "request_header[\"X-A\"]");
        assertNotEquals(key(limit, request("http://ab/", "X-A", "c")), key(limit, request("http://a/", "X-A", "bc")));
        assertNotEquals(key(limit("host"), request("http://ab/")), key(limit("all"), request("http://ab/")));
    }
}
