package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.varnish.syntax.Statement;
import io.millrace.launcher.varnish.syntax.Vcl.Block;
import io.millrace.launcher.varnish.syntax.Vcl.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The translator of backends, probes and directors to groups of origins. Confined to one thread. */
final class Backends {
    /** The call of a method of an object in vcl_init. */
    private static final Pattern METHOD = Pattern.compile("([A-Za-z0-9_-]+)\\.([a-z_]+)");

    /** A backend in a director. */
    private record Member(String name, String weight, Statement source) {}

    /** A director: an object of a VCL module that selects one of several backends. */
    private static final class Director {
        private final String type;
        private final Statement source;
        private final List<Member> members = new ArrayList<>();
        private String hashKey = "";
        private boolean written;

        Director(String type, Statement source) {
            this.type = type;
            this.source = source;
        }
    }

    private final VclImportState state;
    private final Map<String, Director> directors = new LinkedHashMap<>();
    /** Names of the written groups, by backend or director. */
    private final Map<String, String> written = new HashMap<>();
    /** Lines of declarations that a rule uses. */
    private final Set<Entry> usedLines = new HashSet<>();

    Backends(VclImportState state) {
        this.state = state;
    }

    /** Reads the directors of vcl_init. */
    void init() {
        for (Statement each : state.vcl().sub("vcl_init")) {
            Matcher method = METHOD.matcher(each.kind());
            if (each.kind().equals("new")) {
                String type = each.value().replaceAll("\\(.*", "").strip();
                if (type.matches("directors\\..*")) {
                    directors.put(each.target(), new Director(type.substring(10), each));
                    each.markHandled();
                } else {
                    each.notMapped(type + ": the module has no equivalent");
                }
            } else if (method.matches() && directors.containsKey(method.group(1))) {
                addMember(each, directors.get(method.group(1)), method.group(2));
            } else if (each.kind().equals("return")) {
                each.note("vcl_init ends without an error by default");
            }
        }
    }

    private static void addMember(Statement each, Director director, String function) {
        String inner = each.value().replaceAll("^\\(|\\)$", "");
        String[] words = inner.split("\\s*,\\s*", -1);
        if (function.equals("add_backend")) {
            String weight =
                    words.length > 1 ? words[1].replaceAll(".*=\\s*", "").replaceAll("\\.0+$", "") : "1";
            director.members.add(new Member(words[0].strip(), weight, each));
            each.markHandled();
        } else if (function.equals("reconfigure") || function.equals("associate") || function.equals("set_warmup")) {
            each.note("the call is not needed: groups of origins have no such step");
        } else {
            each.notMapped("'" + function + "' of the director has no equivalent");
        }
    }

    /**
     * Returns the backend or director that a value of {@code req.backend_hint} names. An example of a value is
     * {@code d.backend(req.url)}. Returns null if it does not exist. Also records the hash key that the value gives to
     * a director.
     */
    @Nullable
    String named(String hint) {
        Matcher method =
                Pattern.compile("([A-Za-z0-9_-]+)(?:\\.backend\\((.*)\\))?").matcher(hint.strip());
        if (!method.matches()) {
            return null;
        }
        String name = method.group(1);
        Director director = directors.get(name);
        if (director != null && method.group(2) != null) {
            director.hashKey = method.group(2).strip();
        }
        return director != null || state.vcl().backends().containsKey(name) ? name : null;
    }

    /**
     * Returns the default backend: the one with the name {@code default}, else the first one. Returns null if there is
     * none.
     */
    @Nullable
    String defaultBackend() {
        Map<String, Block> all = state.vcl().backends();
        return all.containsKey("default")
                ? "default"
                : all.isEmpty() ? null : all.keySet().iterator().next();
    }

    /** Returns the target URL of a rule for a backend or director. */
    String url(String name) {
        Director director = directors.get(name);
        String first = director == null || director.members.isEmpty()
                ? name
                : director.members.get(0).name();
        Block block = state.vcl().backends().get(first);
        return block == null ? DraftNode.DENIED_TARGET : "http://" + authority(block) + "/";
    }

    /**
     * Returns host and port. A backend with a Unix socket has neither, so its name becomes a host name under .internal.
     */
    private static String authority(Block block) {
        if (!block.value("path", "").isEmpty()) {
            return block.name().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9-]+", "-") + ".internal";
        }
        String port = block.value("port", "80");
        String number = port.equals("http") || port.equals("80") ? "" : ":" + port;
        String host = block.value("host", "127.0.0.1");
        return (host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host) + number;
    }

    /**
     * Assigns the origin group of a backend or director to a rule. A backend with neither a probe nor a limit of
     * connections needs no group.
     */
    void assign(String name, DraftNode rule) {
        Director director = directors.get(name);
        Block block = state.vcl().backends().get(name);
        boolean needsGroup = director != null
                || (block != null
                        && block.fields().stream().anyMatch(each -> List.of("probe", "max_connections")
                                .contains(each.name())));
        if (block != null && block.fields().isEmpty()) {
            rule.put("to", DraftNode.DENIED_TARGET);
            rule.addElement("filters").put("action", "deny");
            block.entry().note("the backend 'none' answers no request");
            markUsed(block);
            return;
        }
        if (!needsGroup) {
            if (block != null) {
                block.entry().recordKey("remap[].to");
                markUsed(block);
                writeSocket(rule, block);
                block.fields().forEach(this::translateField);
            }
            return;
        }
        String group = written.get(name);
        if (group == null) {
            group = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]+", "-");
            written.put(name, group);
            write(group, director, block);
        }
        rule.put("origins", group);
    }

    private void write(String group, @Nullable Director director, @Nullable Block block) {
        DraftNode node = state.workspace().draft().root().addElement("origins");
        node.put("name", group);
        if (director == null) {
            if (block != null) {
                node.from(block.entry());
                writeHost(node, block, "1", List.of());
                translateProbes(node, block);
            }
            return;
        }
        director.written = true;
        node.from(director.source.markHandled());
        translatePolicy(node, director);
        boolean first = true;
        boolean fallback = director.type.startsWith("fallback");
        for (Member each : director.members) {
            Block member = state.vcl().backends().get(each.name());
            if (member == null) {
                each.source().notMapped("directors of directors have no equivalent; the hosts are missing here");
                continue;
            }
            writeHost(node, member, each.weight(), List.of(each.source().markHandled()));
            if (first) {
                translateProbes(node, member);
            } else {
                member.fields().stream()
                        .filter(inner -> inner.name().equals("probe"))
                        .forEach(inner -> inner.entry().note("the group has one check, that of its first host"));
            }
            first = false;
        }
        if (fallback) {
            director.source.markHandled().note("the hosts are tried in their order");
        }
    }

    private static void translatePolicy(DraftNode node, Director director) {
        String type = director.type.replaceAll("[^a-z_].*", "");
        Entry entry = director.source.markHandled();
        switch (type) {
            case "round_robin" -> entry.matchesDefaultOf("origins[].policy");
            case "random" -> entry.note("hosts are used in turn, by weight, not at random");
            case "fallback" -> node.put("policy", "first_live").from(entry);
            case "hash", "shard" -> {
                String key = director.hashKey;
                if (key.contains("client.identity") || key.contains("client.ip")) {
                    node.put("policy", "sticky").from(entry);
                } else {
                    node.put("policy", "consistent_hash").from(entry);
                    String word = key.contains("host") && key.contains("url")
                            ? "url"
                            : key.contains("host") ? "host" : key.contains("url") ? "path_query" : "cache_key";
                    node.put("hash_key", word);
                }
            }
            case "least_connections" -> node.put("policy", "least_loaded").from(entry);
            default -> entry.notMapped("the director '" + type + "' has no equivalent; hosts take turns");
        }
    }

    private void writeHost(DraftNode group, Block block, String weight, List<Entry> sources) {
        DraftNode host = group.addElement("hosts");
        host.put("url", "http://" + authority(block));
        writeSocket(host, block);
        if (!weight.equals("1") && weight.matches("\\d{1,4}")) {
            host.put("weight", weight);
        }
        host.from(block.entry());
        markUsed(block);
        sources.forEach(host::from);
        for (Field each : block.fields()) {
            if (each.name().equals("max_connections")) {
                DraftNode limit = group.put("connections_max", each.value()).removableIfInvalid();
                limit.from(each.entry());
                each.entry().note("the limit applies to each event loop; connections_total_max limits all together");
            } else {
                translateField(each);
            }
        }
    }

    private static void writeSocket(DraftNode node, Block block) {
        String path = block.value("path", "");
        if (!path.isEmpty()) {
            node.put("unix_socket", path);
        }
    }

    /** Translates a field of a backend. Some fields become keys that apply to all origins. */
    private void translateField(Field field) {
        Entry entry = field.entry();
        switch (field.name()) {
            case "host", "port" -> entry.recordKey("remap[].to");
            case "connect_timeout" -> setForAllOrigins("timeouts.origin_connect", field);
            case "first_byte_timeout" -> setForAllOrigins("timeouts.origin_first_byte", field);
            case "between_bytes_timeout" -> setForAllOrigins("timeouts.origin_idle", field);
            case "probe" -> {}
            case "max_connections" -> entry.recordKey("origins[].connections_max");
            case "proxy_header" -> state.set("proxy_protocol_out", "v" + field.value(), entry);
            case "host_header" ->
                entry.note("Varnish uses the value only for requests without Host, which HTTP/1.1 does not allow");
            case "path" -> entry.recordKey("remap[].unix_socket");
            case "ssl" -> entry.notMapped("write https in the key 'to' of the rule, and in the hosts of the group");
            default -> entry.notMapped("'." + field.name() + "' has no equivalent");
        }
    }

    /** Sets a key that applies to all origins. Reports a second, different value as not mapped. */
    private void setForAllOrigins(String key, Field field) {
        String time = VclImportState.time(field.value());
        DraftNode earlierNode = state.workspace().draft().root().find(key);
        if (time == null || time.equals("0")) {
            field.entry().notMapped("'" + field.value() + "' is not a time that Millrace can use");
        } else if (earlierNode != null && !time.equals(earlierNode.text())) {
            field.entry().notMapped("all origins have one value, " + earlierNode.text());
        } else {
            state.set(key, time, field.entry());
        }
    }

    private void translateProbes(DraftNode group, Block backend) {
        for (Field each : backend.fields()) {
            if (!each.name().equals("probe")) {
                continue;
            }
            Block named = state.vcl().probes().get(each.value());
            List<Field> fields = each.fields();
            if (named != null) {
                fields = named.fields();
                named.entry().recordKey("origins[].health_check");
                markUsed(named);
            } else if (fields.isEmpty() && !each.value().isEmpty()) {
                each.entry().notMapped("no probe is named '" + each.value() + "'");
                return;
            }
            group.put("health_check.path", "/").from(each.entry());
            // The defaults of Varnish.
            int window = 8;
            int threshold = 3;
            for (Field inner : fields) {
                window = inner.name().equals("window") ? number(inner, window) : window;
                threshold = inner.name().equals("threshold") ? number(inner, threshold) : threshold;
                translateProbeField(group, inner);
            }
            group.put("health_check.healthy", Integer.toString(Math.max(1, threshold)))
                    .removableIfInvalid();
            group.put("health_check.unhealthy", Integer.toString(Math.max(1, window - threshold + 1)))
                    .removableIfInvalid();
        }
    }

    private static int number(Field field, int otherwise) {
        return field.value().matches("\\d{1,4}") ? Integer.parseInt(field.value()) : otherwise;
    }

    private static void translateProbeField(DraftNode group, Field field) {
        String time = VclImportState.time(field.value());
        switch (field.name()) {
            case "url" ->
                group.put("health_check.path", field.value())
                        .removableIfInvalid()
                        .from(field.entry());
            case "request" -> {
                Matcher line =
                        Pattern.compile("(GET|HEAD) (/\\S*).*", Pattern.DOTALL).matcher(field.value());
                Matcher host = Pattern.compile("(?i)Host: *(\\S+)").matcher(field.value());
                if (line.matches()) {
                    group.put("health_check.path", line.group(2))
                            .removableIfInvalid()
                            .from(field.entry());
                    if (host.find()) {
                        group.put("health_check.host", host.group(1))
                                .removableIfInvalid()
                                .from(field.entry());
                    }
                    field.entry().note("checks send GET with the field Host only");
                } else {
                    field.entry().notMapped("checks send GET with the field Host only");
                }
            }
            case "interval", "timeout" -> {
                if (time == null) {
                    field.entry().notMapped("'" + field.value() + "' is not a time");
                } else {
                    group.put("health_check." + field.name(), time)
                            .removableIfInvalid()
                            .from(field.entry());
                }
            }
            case "expected_response" ->
                group.putWords("health_check.status", List.of(field.value()))
                        .removableIfInvalid()
                        .from(field.entry());
            case "window", "threshold" -> {
                field.entry().recordKey("origins[].health_check");
                field.entry().note("checks in a row are counted instead of those in a window");
            }
            case "initial" -> field.entry().note("hosts are up until checks fail");
            default -> field.entry().notMapped("'." + field.name() + "' has no equivalent");
        }
    }

    private void markUsed(Block block) {
        usedLines.add(block.entry());
        block.fields().forEach(each -> usedLines.add(each.entry()));
    }

    /** Adds notes to declarations that no rule uses. */
    void finish() {
        List<Block> all = new ArrayList<>(state.vcl().backends().values());
        all.addAll(state.vcl().probes().values());
        for (Block each : all) {
            if (!usedLines.contains(each.entry())) {
                each.entry().note("no rule uses this declaration");
                each.fields().forEach(field -> {
                    field.entry().note("no rule uses this declaration");
                    field.fields().forEach(inner -> inner.entry().note("no rule uses this declaration"));
                });
            }
        }
        for (Director each : directors.values()) {
            if (!each.written) {
                each.source.note("no rule uses the director");
                each.members.forEach(inner -> inner.source().note("no rule uses the director"));
            }
        }
    }
}
