package io.millrace.system;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that filters and lines of ip_allow, written and random, admit the same clients as in Traffic Server. */
@Tag("nightly")
class FiltersSideBySideTest extends SideBySideFixture {
    @Test
    void filtersLetInTheSame() throws IOException {
        file(
                "remap.config",
                "map http://one.example/ http://ORIGIN/ @action=allow @src_ip=~127.0.0.2",
                "map http://two.example/ http://ORIGIN/ @action=allow @src_ip=~127.0.0.2 @src_ip=~127.0.0.3",
                "map http://mix.example/ http://ORIGIN/ @action=deny @src_ip=127.0.0.1-127.0.0.3 @src_ip=~127.0.0.2",
                ".definefilter a @action=allow @src_ip=127.0.0.1-127.0.0.2",
                ".activatefilter a",
                "map http://both.example/ http://ORIGIN/ @action=allow @src_ip=127.0.0.2-127.0.0.3",
                ".deactivatefilter A",
                "map http://hash.example/ http://ORIGIN/ @action=allow # @src_ip=127.0.0.1",
                "map http://again.example/ http://ORIGIN/ @action=allow @src_ip=127.0.0.1 @src_ip=~127.0.0.1",
                ".delflt *",
                ".definefilter f @action=deny @src_ip=127.0.0.2",
                ".activatefilter f",
                "map http://named.example/ http://ORIGIN/",
                ".definefilter f @src_ip=127.0.0.3",
                "map http://more.example/ http://ORIGIN/",
                ".deletefilter f",
                "map http://quoted.example/ http://ORIGIN/ \"@action=deny\" @src_ip=127.0.0.2",
                "map http://bits.example/ http://ORIGIN/ @action=deny @src_ip=127.0.0.3/31",
                "# a comment that goes on \\",
                ".deactivatefilter ip_allow",
                "map http://comment.example/ http://ORIGIN/",
                ".deletefilter ip_allow",
                ".deactivatefilter ip_allow",
                ".include in.config",
                "map http://open.example/ http://ORIGIN/",
                ".activatefilter ip_allow",
                ".include out.config",
                "map http://after.example/ http://ORIGIN/",
                "map http://own.example/ http://ORIGIN/ @action=allow @internal",
                "map http://in.example/ http://ORIGIN/ @action=allow @in_ip=~127.0.0.1",
                "map http://patch.example/ http://ORIGIN/ @action=allow @method=GET @method=MKCOL");
        file("in.config", "map http://included.example/ http://ORIGIN/");
        file("out.config", ".deactivatefilter ip_allow", "map http://leaving.example/ http://ORIGIN/");
        file(
                "ip_allow.yaml",
                "ip_allow:",
                "  - {apply: in, ip_addrs: 127.0.0.1-127.0.0.3, action: allow, methods: ALL}",
                "  - {apply: in, ip_addrs: 127.0.0.9, action: allow, methods: [GET, MKCOL]}",
                "  - {apply: in, ip_addrs: 127.0.0.10, action: deny, methods: ALL}",
                "  - {apply: in, ip_addrs: 0/0, action: deny, methods: [PURGE, PUSH, DELETE, TRACE]}");
        for (String line :
                (files.get("remap.config") + files.get("in.config") + files.get("out.config")).split("\n", -1)) {
            if (line.startsWith("map ")) {
                everybody(line.split("/", -1)[2]);
            }
        }
        compare();
    }

    private void everybody(String host) {
        for (int address : new int[] {1, 2, 3, 9, 10, 11}) {
            for (String method : List.of("GET", "POST", "DELETE", "MKCOL")) {
                boolean unknown = address == 10 && method.equals("MKCOL");
                String differs = unknown ? "what is denied by all methods is denied by this one too" : "";
                asks.add(new Ask("127.0.0." + address, method, host, "/", List.of(), differs));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = 11)
    void filtersByChanceLetInTheSame(long seed) throws IOException {
        Random random = new Random(seed);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            lines.add(".definefilter f" + i + " " + filter(random));
        }
        int rules = 0;
        while (rules < 25) {
            String name = "f" + random.nextInt(4);
            switch (random.nextInt(8)) {
                case 0 -> lines.add(".activatefilter " + name);
                case 1 -> lines.add(".deactivatefilter " + name.toUpperCase(Locale.ROOT));
                case 2 -> lines.add((random.nextBoolean() ? ".activatefilter" : ".deactivatefilter") + " ip_allow");
                case 3 -> lines.add(".definefilter " + name + " @method=" + method(random));
                default -> {
                    String own = random.nextInt(3) == 0 ? "" : filter(random);
                    lines.add("map http://h" + rules + ".example/ http://ORIGIN/ " + own);
                    for (int address = 1; address < 8; address++) {
                        for (String method : List.of("GET", "POST", "MKCOL")) {
                            asks.add(new Ask(
                                    "127.0.0." + address, method, "h" + rules + ".example", "/", List.of(), ""));
                        }
                    }
                    rules++;
                }
            }
        }
        file("remap.config", lines.toArray(String[]::new));
        List<String> allow = new ArrayList<>(List.of("ip_allow:"));
        for (int i = random.nextInt(4); i >= 0; i--) {
            String action = random.nextBoolean() ? "allow" : "deny";
            String methods = random.nextBoolean() ? "ALL" : "[" + method(random) + ", MKCOL]";
            String addresses = i == 0 ? "0/0" : range(random);
            allow.add("  - {apply: in, ip_addrs: " + addresses + ", action: " + action + ", methods: " + methods + "}");
        }
        file("ip_allow.yaml", allow.toArray(String[]::new));
        compare();
    }

    private static String method(Random random) {
        return List.of("GET", "HEAD", "POST", "DELETE", "PUT").get(random.nextInt(5));
    }

    private static String range(Random random) {
        int first = 1 + random.nextInt(5);
        int last = first + random.nextInt(3);
        return "127.0.0." + first + (last == first ? "" : "-127.0.0." + last);
    }

    private static String filter(Random random) {
        StringBuilder filter = new StringBuilder("@action=" + (random.nextBoolean() ? "allow" : "deny"));
        for (int i = random.nextInt(4); i > 0; i--) {
            filter.append(" @src_ip=").append(random.nextInt(3) == 0 ? "~" : "").append(range(random));
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            filter.append(" @method=").append(method(random));
        }
        return filter.toString();
    }
}
