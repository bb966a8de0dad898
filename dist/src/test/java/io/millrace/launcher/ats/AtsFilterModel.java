package io.millrace.launcher.ats;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Random filters of remap.config and lines of ip_allow, evaluated as Traffic Server's code does. */
final class AtsFilterModel {
    private static final List<String> METHODS = List.of("GET", "HEAD", "POST", "DELETE", "PURGE");
    private static final int RULES = 12;

    /** A filter of a rule. */
    private record Filter(boolean allow, boolean set, List<String> sources, List<String> methods) {
        boolean isOfMethod(String method) {
            // Unknown methods never match.
            return methods.isEmpty() || methods.contains(method);
        }

        boolean isOfClient(String address) {
            return sources.isEmpty() || sources.stream().anyMatch(word -> has(word, address));
        }
    }

    private record Line(List<String> addresses, boolean allow, List<String> methods) {}

    private record Rule(List<Filter> filters, boolean general) {}

    private final Random random;
    private final boolean firstDecides;
    private final List<Line> lines = new ArrayList<>();
    private final List<Rule> rules = new ArrayList<>();
    private final Map<String, Filter> named = new LinkedHashMap<>();
    private final List<String> active = new ArrayList<>();
    private final Map<String, List<String>> files = new LinkedHashMap<>();

    AtsFilterModel(Random random, boolean firstDecides) {
        this.random = random;
        this.firstDecides = firstDecides;
        if (firstDecides) {
            files.put("records.yaml", List.of("records:", "  url_remap: {acl_behavior_policy: 1}"));
        }
        if (random.nextInt(4) > 0) {
            writeIpAllow();
        }
        writeRules();
    }

    Map<String, List<String>> files() {
        return files;
    }

    int rules() {
        return rules.size();
    }

    private <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    private String range() {
        if (random.nextInt(12) == 0) {
            return "2001:db8::/32";
        }
        int first = 1 + random.nextInt(4);
        int last = first + random.nextInt(4);
        return first == last ? "10.0.0." + first : "10.0.0." + first + "-10.0.0." + last;
    }

    private List<String> some(List<String> of) {
        List<String> some = new ArrayList<>();
        of.forEach(each -> {
            if (random.nextInt(3) == 0) {
                some.add(each);
            }
        });
        return some;
    }

    private void writeIpAllow() {
        List<String> text = new ArrayList<>(List.of("ip_allow:"));
        for (int i = random.nextInt(5); i >= 0; i--) {
            List<String> addresses = random.nextInt(4) == 0 ? List.of("0.0.0.0/0", "::/0") : List.of(range());
            List<String> methods = new ArrayList<>(some(METHODS));
            if (!methods.isEmpty() && random.nextInt(3) == 0) {
                methods.add("MKCOL");
            }
            boolean allow = random.nextBoolean();
            lines.add(new Line(addresses, allow, methods));
            text.add("  - apply: in");
            text.add("    ip_addrs: ['" + String.join("', '", addresses) + "']");
            text.add("    action: " + (allow ? "allow" : "deny"));
            text.add("    methods: " + (methods.isEmpty() ? "ALL" : methods.toString()));
        }
        files.put("ip_allow.yaml", text);
    }

    private List<String> words(boolean allow, boolean set, List<String> sources, List<String> methods) {
        List<String> words = new ArrayList<>();
        String kind = firstDecides ? set ? "set_" : "add_" : "";
        words.add("@action=" + kind + (allow ? "allow" : "deny"));
        sources.forEach(source -> words.add("@src_ip=" + source));
        methods.forEach(method -> words.add("@method=" + method.toLowerCase(java.util.Locale.ROOT)));
        return words;
    }

    private Filter filter(List<String> words) {
        boolean allow = random.nextBoolean();
        boolean set = firstDecides && random.nextBoolean();
        List<String> sources = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            sources.add((random.nextInt(3) == 0 ? "~" : "") + range());
        }
        Filter filter = new Filter(allow, set, once(sources), random.nextBoolean() ? List.of() : some(METHODS));
        words.addAll(words(allow, set, sources, filter.methods));
        return filter;
    }

    /** A repeated range has no effect, whatever its action. */
    private static List<String> once(List<String> sources) {
        List<String> once = new ArrayList<>();
        List<String> bare = new ArrayList<>();
        for (String source : sources) {
            String range = source.replace("~", "");
            if (!bare.contains(range)) {
                bare.add(range);
                once.add(source);
            }
        }
        return once;
    }

    private void writeRules() {
        List<String> text = new ArrayList<>();
        boolean general = true;
        for (int i = 0; i < 3; i++) {
            List<String> words = new ArrayList<>(List.of(".definefilter", "f" + i));
            named.put("f" + i, filter(words));
            text.add(String.join(" ", words));
        }
        while (rules.size() < RULES) {
            String name = any(List.copyOf(named.keySet()));
            switch (random.nextInt(6)) {
                case 0 -> {
                    text.add(".activatefilter " + name);
                    if (!active.contains(name)) {
                        active.add(name);
                    }
                }
                case 1 -> {
                    text.add(".deactivatefilter " + name);
                    active.remove(name);
                }
                case 2 -> {
                    general = !general;
                    text.add((general ? ".activatefilter" : ".deactivatefilter") + " ip_allow");
                }
                case 3 -> {
                    Filter before = named.get(name);
                    String method = any(METHODS);
                    List<String> methods = new ArrayList<>(before.methods);
                    methods.add(method);
                    named.put(name, new Filter(before.allow, before.set, before.sources, methods));
                    text.add(".definefilter " + name + " @method=" + method);
                }
                default -> text.add(rule(general));
            }
        }
        files.put("remap.config", text);
    }

    private String rule(boolean general) {
        List<Filter> filters = new ArrayList<>();
        List<String> words =
                new ArrayList<>(List.of("map", "http://h" + rules.size() + ".example/", "http://o.example/"));
        if (random.nextInt(3) > 0) {
            filters.add(filter(words));
        }
        active.forEach(name -> filters.add(named.get(name)));
        rules.add(new Rule(filters, general));
        return String.join(" ", words);
    }

    /** Returns true if Traffic Server admits the request. */
    boolean passes(int index, String address, String method) {
        Rule rule = rules.get(index);
        Boolean decided = firstDecides ? first(rule, address, method) : all(rule, address, method);
        if (decided != null) {
            return decided;
        }
        return !rule.general || lines.isEmpty() || line(address, method);
    }

    /** Every filter is evaluated, and no later filter admits what an earlier one denied. ip_allow is evaluated too. */
    private static @Nullable Boolean all(Rule rule, String address, String method) {
        boolean open = true;
        for (Filter filter : rule.filters) {
            boolean met = filter.isOfMethod(method) && filter.isOfClient(address);
            open &= met == filter.allow;
        }
        return open ? null : false;
    }

    /**
     * The first filter for the client decides, and later ones are not evaluated. A filter that only adds methods
     * decides for these methods only.
     */
    private static @Nullable Boolean first(Rule rule, String address, String method) {
        for (Filter filter : rule.filters) {
            if (filter.isOfClient(address) && (filter.isOfMethod(method) || filter.set)) {
                return filter.isOfMethod(method) == filter.allow;
            }
        }
        return null;
    }

    private boolean line(String address, String method) {
        for (Line line : lines) {
            if (line.addresses.stream().anyMatch(range -> has(range, address))) {
                return line.methods.isEmpty() ? line.allow : line.allow == line.methods.contains(method);
            }
        }
        return false;
    }

    private static boolean has(String word, String address) {
        String range = word.replace("~", "");
        return word.startsWith("~") != isWithin(range, address);
    }

    private static boolean isWithin(String range, String address) {
        int slash = range.indexOf('/');
        int dash = range.indexOf('-');
        if (range.contains(":") != address.contains(":")) {
            return false;
        }
        if (slash >= 0) {
            int bytes = Integer.parseInt(range.substring(slash + 1)) / 8;
            return Arrays.equals(bytes(range.substring(0, slash)), 0, bytes, bytes(address), 0, bytes);
        }
        byte[] at = bytes(address);
        return Arrays.compareUnsigned(bytes(dash < 0 ? range : range.substring(0, dash)), at) <= 0
                && Arrays.compareUnsigned(at, bytes(range.substring(dash + 1))) <= 0;
    }

    private static byte[] bytes(String address) {
        try {
            return InetAddress.getByName(address).getAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(address, e);
        }
    }
}
