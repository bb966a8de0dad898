package io.millrace.proxy.admin.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.Schema;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PatternFormsTest {
    private static final Schema<String> URL = Schema.of(List.of(Field.text("url", "The URL.", url -> url)));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "http://a.example/*.css | http://a.example/b/c.css | true",
                "http://a.example/*.css | http://a.example/b/cxcss | false",
                "http://a.example/*.css | http://a.example/b.css?v=1 | false",
                "http://a.example/*.css | https://a.example/b.css | true",
                "https://a.example/*.css | http://a.example/b.css | true",
                "http://A.Example:80/* | https://a.example/b.css | true",
                "https://a.example:443/* | http://a.example/b.css | true",
                "http://a.example:8080/* | http://a.example:8080/b.css | true",
                "http://a.example:8080/* | https://a.example:8080/b.css | false",
                "http://a.example:443/* | https://a.example/b.css | false",
                "http://[::1]/* | https://[::1]/b.css | true",
                "http://[::1]:81/* | https://[::1]:81/b.css | false",
                "http://a.example/* | http://a.example.net/b.css | false",
                "http://*/print | https://a.example/x/print | true",
                "http://a.example/p?id=1&(x)+[y]* | http://a.example/p?id=1&(x)+[y]z | true",
                "http://a.example/p?id=* | http://a.example/pid=1 | false",
                "http://*/p | http://a.example/q/p | true",
                "http://a.example/\\* | http://a.example/\\b | true",
                "http://a.example/\"* | http://a.example/\"b | true"
            })
    void wildcards(String wildcard, String url, boolean matches) throws AdminException, ExpressionException {
        String text = PatternForms.expression(null, null, wildcard);
        assertEquals(matches, Expression.parse(text, URL).test(url), text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\\.css$ | http://a.example/b.css | true",
                "\\.css$ | http://a.example/bxcss | false",
                "\"\\\\\" | http://a.example/\"\\\" | true"
            })
    void regularExpressions(String regex, String url, boolean matches) throws AdminException, ExpressionException {
        String text = PatternForms.expression(null, regex, null);
        assertEquals(matches, Expression.parse(text, URL).test(url), text);
    }

    @Test
    void atMostOneForm() throws AdminException {
        assertNull(PatternForms.expression(null, null, null));
        assertEquals("age > 1d", PatternForms.expression("age > 1d", null, null));
        assertEquals(
                400,
                assertThrows(AdminException.class, () -> PatternForms.expression("a", "b", null))
                        .status());
        AdminException regex = assertThrows(AdminException.class, () -> PatternForms.expression(null, "(", null));
        assertEquals("bad-regex", regex.code());
        for (String text : List.of("a.example/*", "*/print", "*")) {
            AdminException wildcard =
                    assertThrows(AdminException.class, () -> PatternForms.expression(null, null, text));
            assertEquals(400, wildcard.status());
            assertEquals(
                    "wildcard: the text must begin with http:// or https:// and a host, such as"
                            + " http://www.example.com/* or http://*/print: " + text,
                    wildcard.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'where':'age > 1d'} | age > 1d | false",
                "{'regex':'a','mode':'soft'} | url =~ 'a' | true",
                "{'where':'age > 2d','mode':'hard','count':true} | age > 2d | false"
            })
    void membersOfARequest(String body, String expression, boolean soft) throws AdminException {
        Scope scope = PurgeResource.scope(body.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
        assertEquals(new Scope(Kind.PATTERN, null, expression.replace('\'', '"'), soft), scope);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'where':'age > 1d','regex':'a'}",
                "{'where':'age > 1d','host':'a.example'}",
                "{'where':'age > 1d','site':'a.example'}",
                "{'regex':'a','scope':'all'}",
                "{'where':''}",
                "{'pattern':'a'}"
            })
    void membersThatCannotBeCombined(String body) {
        byte[] bytes = body.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        assertEquals(
                400,
                assertThrows(AdminException.class, () -> PurgeResource.scope(bytes))
                        .status());
    }
}
