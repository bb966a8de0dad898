package io.millrace.launcher.nginx.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the conditions of rules for tests of nginx variables. */
final class ConditionTextTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "http_user_agent;~*;bot|spider; request_header[\"user-agent\"] =~ \"(?i)bot|spider\"",
                "http_x;=;``; !(request_header[\"x\"] =~ \".\")",
                "http_x;!=;``; request_header[\"x\"] =~ \".\"",
                "http_x;!~;^a; !(request_header[\"x\"] =~ \"^a\")",
                "arg_a;=;1; query =~ \"(?i)^(?:(?:[^a&][^&]*|a(?:[^=&][^&]*)?)?&)*a=(?-i:1)(?:&|$)\"",
                "request_method;=;TRACE; method == \"TRACE\"",
                "host;!~;^a\\.b$; !(host =~ \"^a\\\\.b$\")",
                "request_uri;~;//; (path =~ \"//\" || query =~ \"//\")",
                "http_x;~*;^(|b)$; (!(request_header[\"x\"] =~ \"\") || request_header[\"x\"] =~ \"(?i)^(|b)$\")",
                "http_x;!~;^(|b)$; request_header[\"x\"] =~ \"\" && !(request_header[\"x\"] =~ \"^(|b)$\")",
                "remote_addr;=;192.0.2.1; client == \"192.0.2.1\""
            })
    void testsBecomeConditions(String variable, String operator, String value, String expected) {
        assertEquals(expected, ConditionText.of(new Conditions.Condition(variable, operator, value)));
    }

    @ParameterizedTest
    @CsvSource({
        "http_x,~,a(?!b)",
        "http_x,~,a\\Z",
        "http_x,~,a\\h",
        "http_x,~,a\\Kb",
        "http_x,~,(?|a|b)",
        "http_x,~,a(?#b)",
        "http_x,~,(?'n'a)",
        "http_x,~,'a{1,2000}'",
        "http_x,~,[a",
        "uri,~,a b",
        "uri,~,a\\sb",
        "arg_a,~,a&b",
        "arg_a,!~,^a|b$",
        "arg_a,~,[^b]",
        "request_uri,~,^/a.*$",
        "request_uri,~,(a|b$)",
        "request_uri,~,(^/a|b)",
        "request_uri,~,/[^/]+x",
        "http_x:$http_y,=,1",
        "remote_addr,~,^10",
        "geo,=,1",
        "uri,-f,"
    })
    void testsWithoutEquivalentHaveNone(String variable, String operator, String value) {
        String text = value == null ? "" : value;
        assertNull(ConditionText.of(new Conditions.Condition(variable, operator, text)));
    }
}
