package io.millrace.proxy.admin.resource;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The path of a request target, decoded and as received. */
class TargetPathTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/v1/session | /v1/session | /v1/session",
                "/v1/%73ession?a=%2F | /v1/%73ession | /v1/session",
                "/v1/session#x?y | /v1/session | /v1/session",
                "/v1%2fsession?#x | /v1%2fsession | /v1/session",
                "/v1/%2573ession | /v1/%2573ession | /v1/%73ession",
                "/v1/%zz?x | /v1/%zz | /v1/%zz",
                "/a+b | /a+b | /a+b"
            })
    void endsBeforeQueryAndFragment(String target, String received, String decoded) {
        assertEquals(received, TargetPath.received(target));
        assertEquals(decoded, TargetPath.decoded(target));
    }

    @Test
    void fragmentBelongsToNoSegmentOfATemplate() {
        PathTemplate template = new PathTemplate("/service/{id}/purge/{key}");
        assertEquals(List.of("a", "b/c"), template.values("/service/a/purge/b%2Fc#x/y"));
    }
}
