package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the rules of {@code run --domain}, for clients that reach the ports directly or through a port mapping. */
class TlsSiteTest {
    private static List<String> rules(String plain, String secure) {
        String yaml = new TlsSite(List.of("www.example.com"), secure, null, true).yaml(List.of(plain), "http://o:1");
        return yaml.substring(yaml.indexOf("remap:\n"))
                .lines()
                .skip(1)
                .map(line -> line.replaceAll("[\" -]", ""))
                .toList();
    }

    @Test
    void standardPortsNeedOneRuleEach() {
        assertEquals(
                List.of(
                        "map:https://www.example.com/",
                        "to:http://o:1",
                        "redirect:http://www.example.com/",
                        "to:https://www.example.com/"),
                rules(":80", ":443"));
    }

    @ParameterizedTest
    @CsvSource({
        "map:https://www.example.com/, to:http://o:1",
        "map:https://www.example.com:8443/, to:http://o:1",
        "redirect:http://www.example.com/, to:https://www.example.com/",
        "redirect:http://www.example.com:8080/, to:https://www.example.com:8443/"
    })
    void otherPortsAreServedBesideTheStandardOnes(String rule, String target) {
        List<String> rules = rules("127.0.0.1:8080", "[::1]:8443");
        assertEquals(target, rules.get(rules.indexOf(rule) + 1), rules::toString);
    }
}
