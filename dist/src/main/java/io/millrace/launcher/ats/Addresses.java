package io.millrace.launcher.ats;

import io.millrace.proxy.config.AddressSet;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Addresses as Traffic Server's files write them, made such as Millrace reads. */
final class Addresses {
    private Addresses() {}

    /** One address or range: {@code 0/0} is all of IPv4. */
    static String of(String text) {
        String negative = text.startsWith("~") ? "~" : "";
        String range = text.substring(negative.length()).strip();
        if (range.equals("0/0") || range.equals("0.0.0.0-255.255.255.255")) {
            range = "0.0.0.0/0";
        } else if (range.equalsIgnoreCase("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")) {
            range = "::/0";
        }
        return negative + range;
    }

    static List<String> of(List<String> texts) {
        List<String> all = new ArrayList<>();
        texts.forEach(text -> all.add(of(text)));
        return all;
    }

    /** What is wrong with them; null when they can be read. */
    static @Nullable String problem(List<String> addresses) {
        try {
            AddressSet.parse(addresses.toArray(String[]::new));
            return null;
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }
}
