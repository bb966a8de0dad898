package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The writer of origin groups from {@code upstream} blocks. Writes a group when a rule first uses it. Confined to one
 * thread.
 */
final class Upstreams {
    private static final String TRIES = "retries apply to the whole group, as the first rule that uses it sets them";

    private final Workspace workspace;
    /** The {@code upstream} blocks by name. */
    private final Map<String, Directive> blocks = new LinkedHashMap<>();
    /** Names of the written groups, by scheme and name of the upstream. */
    private final Map<String, String> written = new HashMap<>();

    /** Names of all groups. */
    private final Set<String> names = new HashSet<>();

    Upstreams(Workspace workspace, Scope http) {
        this.workspace = workspace;
        http.own("upstream").forEach(each -> blocks.put(each.arg(0), each));
    }

    boolean has(String name) {
        return blocks.containsKey(name);
    }

    /** Writes a group with one host, for a rule that sends another name as Host. Returns the name of the group. */
    String single(String scheme, String authority, Target target) {
        return written.computeIfAbsent(scheme + "://" + authority, key -> {
            DraftNode group =
                    workspace.draft().addElement("origins", target.source().markHandled());
            String name = freeName(authority);
            group.put("name", name);
            group.addElement("hosts").put("url", key);
            return name;
        });
    }

    /** Returns the name of the group for an upstream. Writes the group at the first use. */
    String group(String name, String scheme, Scope user) {
        String existingName = written.get(scheme + "://" + name);
        if (existingName != null) {
            user.all("proxy_next_upstream", "proxy_next_upstream_tries", "proxy_next_upstream_timeout")
                    .forEach(each -> {
                        if (!each.isHandled()) {
                            each.note(TRIES);
                        }
                    });
            return existingName;
        }
        Directive block = blocks.get(name);
        if (block == null) {
            throw new IllegalArgumentException(name);
        }
        DraftNode group = workspace.draft().addElement("origins", block.markHandled());
        String groupName = freeName(name);
        written.put(scheme + "://" + name, groupName);
        group.put("name", groupName);
        translatePolicy(group, block);
        writeHosts(group, block, scheme);
        writeRetries(group, user);
        return groupName;
    }

    private String freeName(String name) {
        String word = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]+", "-");
        String cut = word.substring(0, Math.min(word.length(), 59)).replaceAll("^-+", "");
        String base = cut.isEmpty() ? "group" : cut;
        String free = base;
        for (int i = 2; !names.add(free); i++) {
            free = base + "-" + i;
        }
        return free;
    }

    private static void translatePolicy(DraftNode group, Directive block) {
        for (Directive each : block.children()) {
            switch (each.name()) {
                case "least_conn" -> group.put("policy", "least_loaded").from(each.markHandled());
                case "ip_hash" -> group.put("policy", "sticky").from(each.markHandled());
                case "random" -> translateRandom(group, each);
                case "least_time" -> {
                    group.put("policy", "least_loaded").from(each.markHandled());
                    each.entry().note("the host with the fewest requests is chosen, without regard to its time");
                }
                case "hash" -> translateHash(group, each);
                case "sticky" -> {
                    group.put("policy", "sticky").from(each.markHandled());
                    each.notMapped("hosts are chosen by the client's address, not by a cookie or a route");
                }
                default -> {}
            }
        }
    }

    private static void translateRandom(DraftNode group, Directive each) {
        if (each.arg(0).equals("two")) {
            group.put("policy", "least_loaded").from(each.markHandled());
        } else {
            each.markHandled().matchesDefaultOf("origins[].policy");
            each.entry().note("hosts are used in turn, not at random");
        }
    }

    private static void translateHash(DraftNode group, Directive each) {
        String key = each.arg(0);
        if (key.equals("$remote_addr") || key.equals("$binary_remote_addr")) {
            group.put("policy", "sticky").from(each.markHandled());
            return;
        }
        String word =
                switch (key) {
                    case "$request_uri", "$uri$is_args$args" -> "path_query";
                    case "$uri" -> "path";
                    case "$host", "$http_host" -> "host";
                    case "$host$request_uri", "$scheme$host$request_uri", "$scheme$proxy_host$request_uri" -> "url";
                    default -> "";
                };
        if (word.isEmpty()) {
            each.notMapped("hashes of '" + key + "' have no equivalent; policy can be consistent_hash with hash_key"
                    + " path, path_query, url, host or cache_key");
            return;
        }
        group.put("policy", "consistent_hash").from(each.markHandled());
        group.put("hash_key", word).from(each.entry());
    }

    private void writeHosts(DraftNode group, Directive block, String scheme) {
        List<Directive> settings = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (Directive each : block.children("server")) {
            String authority = each.arg(0);
            if (each.args().contains("down")) {
                each.note("the server is marked as down, so that it gets no requests; the host is left out");
            } else if (!seen.add(authority)) {
                each.note("an earlier line lists the same host");
            } else {
                writeHost(group.addElement("hosts").from(each.markHandled()), each, scheme, seen.size());
                settings.add(each);
            }
        }
        writeHostOptions(group, settings);
        for (Directive each : block.children()) {
            if (each.name().equals("health_check")) {
                each.notMapped("the directive belongs to a location");
            }
        }
    }

    private static void writeHost(DraftNode host, Directive server, String scheme, int number) {
        if (server.arg(0).startsWith("unix:")) {
            // Each host of a group needs its own URL; the key 'to' of the rule determines the Host field.
            host.put("url", scheme + "://socket-" + number + ".internal");
            host.put("unix_socket", server.arg(0).substring("unix:".length()));
        } else {
            host.put("url", scheme + "://" + server.arg(0));
        }
        String weight = option(server, "weight");
        if (weight != null && !weight.equals("1")) {
            host.put("weight", weight);
        }
        if (server.args().contains("backup")) {
            host.put("backup", "true");
        }
        for (String word : server.args().subList(1, server.args().size())) {
            String name = word.replaceAll("=.*", "");
            switch (name) {
                case "weight", "backup", "max_fails", "fail_timeout", "max_conns", "slow_start" -> {}
                case "resolve" -> server.entry().note("names are always looked up again when their addresses expire");
                case "service" -> server.notMapped("service: SRV records are used with dns.srv");
                default -> server.notMapped("'" + word + "' has no equivalent");
            }
        }
    }

    static @Nullable String option(Directive directive, String name) {
        for (String word : directive.args()) {
            if (word.startsWith(name + "=")) {
                return word.substring(name.length() + 1);
            }
        }
        return null;
    }

    /** Writes the settings that nginx applies to each host, and Millrace only to the group. */
    private static void writeHostOptions(DraftNode group, List<Directive> servers) {
        writeOption(group, servers, "max_fails", "markdown.fail_threshold", "1", false);
        writeOption(group, servers, "fail_timeout", "markdown.retry_time", "10s", true);
        writeOption(group, servers, "slow_start", "slow_start", "0", true);
        writeOption(group, servers, "max_conns", "connections_max", "0", false);
        group.putWords("markdown.codes", List.of()).remark("nginx counts no response as a failure by its status");
    }

    private static void writeOption(
            DraftNode group, List<Directive> servers, String name, String key, String nginxDefault, boolean isTime) {
        Directive first = null;
        for (Directive each : servers) {
            String value = option(each, name);
            if (value != null && first == null) {
                first = each;
            } else if (first != null && value != null && !value.equals(option(first, name))) {
                each.notMapped(name + ": the group has one value, from "
                        + first.entry().place());
            }
        }
        String text = first == null ? nginxDefault : String.valueOf(option(first, name));
        String value = isTime ? Values.time(text) : text;
        if (name.equals("max_conns") || name.equals("slow_start")) {
            if (first == null || "0".equals(value)) {
                return;
            }
            if (name.equals("max_conns")) {
                first.entry()
                        .note("max_conns: the limit applies to each event loop; connections_total_max limits all"
                                + " together");
            }
        }
        if (value == null) {
            return;
        }
        DraftNode node = group.put(key, value).removableIfInvalid();
        if (first == null) {
            node.remark("nginx's default (" + name + ")");
        } else {
            node.from(first.entry());
        }
    }

    private static void writeRetries(DraftNode group, Scope user) {
        List<String> codes = new ArrayList<>();
        Directive next = user.last("proxy_next_upstream");
        List<String> words = next == null ? List.of("error", "timeout") : next.args();
        for (String word : words) {
            if (word.matches("http_\\d{3}")) {
                codes.add(word.substring(5));
            }
        }
        DraftNode written = group.putWords("retry.response_codes", codes).removableIfInvalid();
        if (next != null) {
            written.from(next.markHandled());
            if (words.contains("non_idempotent")) {
                next.notMapped("non_idempotent: such requests are sent again only if no byte of them was sent");
            }
        } else {
            written.remark("nginx's default (proxy_next_upstream error timeout)");
        }
        if (words.contains("off")) {
            group.put("retry.tries", "1");
        }
        Directive tries = user.last("proxy_next_upstream_tries");
        if (tries != null && !tries.arg(0).equals("0") && !words.contains("off")) {
            group.put("retry.tries", tries.arg(0)).removableIfInvalid().from(tries.markHandled());
        } else if (tries != null) {
            tries.note("0 sets no limit; Millrace's default is 3 attempts");
        }
        Directive within = user.last("proxy_next_upstream_timeout");
        String time = within == null ? null : Values.time(within.arg(0));
        if (within != null && time != null && !time.equals("0")) {
            group.put("retry.within", time).removableIfInvalid().from(within.markHandled());
        } else if (within != null) {
            within.note("0 sets no limit; Millrace's default is 30 seconds");
        }
    }

    /** Writes the settings of idle connections, which apply to all origins, and reports unused groups. */
    void finish() {
        for (Directive block : blocks.values()) {
            for (Directive each : block.children()) {
                if (each.name().equals("keepalive")) {
                    workspace.draft().set("origin.keep_alive_max", each.arg(0), each.markHandled());
                    each.entry().note("idle connections are counted for each event loop");
                } else if (each.name().equals("keepalive_timeout")) {
                    String time = Values.time(each.arg(0));
                    if (time != null) {
                        workspace.draft().set("origin.keep_alive", time, each.markHandled());
                    }
                }
            }
            if (!block.isHandled()) {
                block.note("no imported rule uses the upstream");
                block.children().forEach(each -> {
                    if (!each.isHandled()) {
                        each.note("no imported rule uses the upstream");
                    }
                });
            }
        }
    }
}
