package io.millrace.system;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the same parents receive requests as with Traffic Server, in the same order. */
@Tag("nightly")
class ParentsSideBySideTest extends SideBySideFixture {
    @Test
    void parentsAreAskedTheSame() throws IOException {
        file(
                "records.config",
                "CONFIG proxy.config.http.server_ports STRING PORT",
                // Otherwise it omits every parent at an address of this machine.
                "CONFIG proxy.config.http.parent_proxy.self_detect INT 0",
                "CONFIG proxy.config.http.no_dns_just_forward_to_parent INT 1");
        List<String> rules = new ArrayList<>();
        for (String name : List.of("strict", "first", "latched", "proxy", "dead", "half", "retry", "backup", "hosts")) {
            rules.add("map http://" + name + ".example/ http://" + name + ".internal/");
        }
        file("remap.config", rules.toArray(String[]::new));
        file(
                "parent.config",
                "dest_domain=strict.internal parent=\"ORIGIN;OTHER\" round_robin=strict parent_is_proxy=false",
                "dest_domain=first.internal parent=\"ORIGIN;OTHER\" parent_is_proxy=false",
                "dest_domain=latched.internal parent=\"ORIGIN;OTHER\" round_robin=latched parent_is_proxy=false",
                "dest_domain=proxy.internal parent=\"ORIGIN;OTHER\" round_robin=strict",
                "dest_domain=dead.internal parent=\"127.0.0.1:1\" round_robin=strict parent_is_proxy=false",
                "dest_domain=half.internal parent=\"127.0.0.1:1;OTHER\" parent_is_proxy=false",
                "dest_domain=retry.internal parent=\"ORIGIN;OTHER\" parent_is_proxy=false parent_retry=simple_retry",
                "dest_domain=backup.internal parent=\"127.0.0.1:1\" secondary_parent=\"OTHER\" round_robin=consistent_hash parent_is_proxy=false",
                "dest_domain=hosts.internal parent=\"ORIGIN\" secondary_parent=\"OTHER\" round_robin=strict parent_is_proxy=false");
        for (String name : List.of("strict", "first", "latched", "proxy", "dead", "half", "retry", "backup", "hosts")) {
            get(name + ".example", "/0", "/1?x=1", "/2");
        }
        ask("POST", "half.example", "/post");
        compare();
    }
}
