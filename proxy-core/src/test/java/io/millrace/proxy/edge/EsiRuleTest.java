package io.millrace.proxy.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.config.edge.EsiConfig;
import io.millrace.proxy.http.ResponseHead;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EsiRuleTest {
    private static EsiRule rule(EsiConfig.When when) {
        return new EsiRule(new EsiConfig(when, 1, 1, 1024, 1024, 1));
    }

    private static StoredHead stored(int status, String fields) {
        return Heads.stored(Heads.response(status, fields.split("\\^", -1)));
    }

    /** The decision about a stored response is that about the fields of the origin, except for statuses without content. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "200 | Content-Type: image/png | false | false",
                "200 | Content-Type: text/plain | false | false",
                "200 | Content-Type: text/htmlx | false | false",
                "200 | Content-Type: text/html | false | true",
                "404 | Content-Type: Text/HTML;charset=utf-8 | false | true",
                "200 | Content-Type: text/html^Content-Encoding: gzip | false | false",
                "200 | Content-Type: text/html^Content-Encoding: identity | false | true",
                "200 | Surrogate-Control: max-age=5 | false | false",
                "200 | Surrogate-Control: content=\"ESI/1.0\" | true | true",
                "200 | Content-Type: image/png^Surrogate-Control: max-age=5, content=\"ESI/1.0\" | true | true",
                "200 | X: Surrogate-Control: content=\"ESI/1.0\" | false | false",
            })
    void documentsAreFoundByTheirFields(int status, String fields, boolean isAsked, boolean isEver) {
        StoredHead stored = stored(status, fields);
        for (int round = 0; round < 2; round++) {
            assertEquals(isAsked, rule(EsiConfig.When.SURROGATE_CONTROL).isDocument(stored));
            assertEquals(isEver, rule(EsiConfig.When.ALWAYS).isDocument(stored));
        }
        assertEquals(isAsked, rule(EsiConfig.When.SURROGATE_CONTROL).isDocument(stored.fields()));
        assertEquals(isEver, rule(EsiConfig.When.ALWAYS).isDocument(stored.fields()));
    }

    @ParameterizedTest
    @CsvSource({"200,true", "204,false", "301,false", "304,false", "404,true", "500,true"})
    void statusesWithoutContentAreNoDocuments(int status, boolean isDocument) {
        StoredHead stored = Heads.stored(ResponseHead.of(
                status, "", Heads.fields("Cache-Control: max-age=9", "Surrogate-Control: content=ESI/1.0")));
        assertEquals(isDocument, rule(EsiConfig.When.SURROGATE_CONTROL).isDocument(stored));
    }

    /** A hit must not parse fields: the decision about an image is made once, and without a copy of its fields. */
    @Test
    void hitsAllocateNothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        EsiRule rule = rule(EsiConfig.When.ALWAYS);
        StoredHead page = stored(200, "Content-Type: text/html");
        StoredHead image = stored(200, "Content-Type: image/png");
        assertTrue(rule.isDocument(page));
        assertFalse(rule.isDocument(stored(200, "Content-Type: image/png")));
        long before = threads.getCurrentThreadAllocatedBytes();
        boolean isDocument = true;
        for (int i = 0; i < 1000; i++) {
            isDocument &= rule.isDocument(page) && !rule.isDocument(image);
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(isDocument);
        assertTrue(allocated < 1000, allocated + " bytes for 2000 decisions");
    }
}
