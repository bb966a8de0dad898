package io.millrace.launcher.ats;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** remap.config: rules, filters by name, and other files that it names. */
final class RemapImport {
    private static final Set<String> VERBS = Set.of(
            "map",
            "map_with_recv_port",
            "map_with_referer",
            "reverse_map",
            "redirect",
            "redirect_temporary",
            "regex_map",
            "regex_map_with_recv_port",
            "regex_redirect",
            "regex_redirect_temporary");

    private static final int INCLUDES_MAX = 100;

    private final Input input;
    private final RemapFilters filters;
    private final RemapArguments arguments;
    private final List<RemapRule> rules = new ArrayList<>();
    private final Set<String> included = new HashSet<>();

    RemapImport(Input input, IpAllowImport ipAllow, StorageImport storage) {
        this.input = input;
        filters = new RemapFilters(input, ipAllow);
        arguments = new RemapArguments(storage);
    }

    void read() {
        if (input.has("remap.yaml")) {
            input.name(
                    "remap.yaml",
                    "rules as YAML are not read; write them as lines of remap.config, or by docs/remap.md");
            input.name("remap.config", "remap.yaml stands beside it, and Traffic Server reads that");
            return;
        }
        SourceFile file = input.read("remap.config");
        if (file != null) {
            read(file);
        }
        filters.finish();
    }

    /** The rules that lead to an origin. */
    List<RemapRule> forwarding() {
        return rules.stream()
                .filter(rule -> rule.verb().contains("map") && !rule.verb().equals("reverse_map"))
                .toList();
    }

    private void read(SourceFile file) {
        included.add(file.name());
        for (Words words : Words.of(file)) {
            String first = words.at(0).toLowerCase(Locale.ROOT);
            if (first.equals(".include")) {
                include(file, words);
            } else if (first.startsWith(".")) {
                filters.directive(file, words);
            } else {
                rule(file, words, first);
            }
        }
    }

    private void include(SourceFile file, Words words) {
        for (int i = 1; i < words.words().size(); i++) {
            String name = words.at(i);
            Path path = Path.of(name);
            String relative = path.isAbsolute()
                    ? input.directory()
                            .toAbsolutePath()
                            .normalize()
                            .relativize(path.normalize())
                            .toString()
                    : name;
            SourceFile next =
                    included.contains(relative) || included.size() > INCLUDES_MAX ? null : input.read(relative);
            if (next == null) {
                file.problem(
                        words.entry().line(),
                        words.columns().get(i),
                        included.contains(relative) ? name + " is included already" : name + ": no such file");
            } else {
                read(next);
            }
        }
        words.entry().note("its lines stand in its place");
    }

    private void rule(SourceFile file, Words words, String verb) {
        if (!VERBS.contains(verb)) {
            file.problem(words.entry(), "'" + words.at(0) + "' is no kind of rule");
            return;
        }
        if (words.words().size() < 3
                || words.at(1).startsWith("@")
                || words.at(2).startsWith("@")) {
            file.problem(words.entry(), words.at(0) + " needs two URLs");
            return;
        }
        Entry entry = words.entry();
        if (words.at(2).startsWith("http://{") || (words.at(1).contains("{") && !verb.startsWith("regex"))) {
            entry.notMapped(
                    "pages of Traffic Server's own are not there; millctl cache list, millctl status and millctl metric get say the same");
            return;
        }
        if (words.at(1).startsWith("tunnel:")) {
            entry.notMapped("connections are not passed on by their names in TLS");
            return;
        }
        boolean referer = verb.equals("map_with_referer");
        boolean on = input.records().isOn("http.referer_filter", false);
        RemapRule rule =
                new RemapRule(entry, referer && !on ? "map" : verb, words.at(1), words.at(2), filters.active());
        if (referer && !on) {
            entry.note("proxy.config.http.referer_filter is off, so every Referer passes");
        }
        int next = 3;
        while (referer && next < words.words().size() && !words.at(next).startsWith("@")) {
            next++;
        }
        if (referer && on && !referers(file, words, rule, next)) {
            return;
        }
        filters.begin();
        for (int i = next; i < words.words().size(); i++) {
            argument(file, words, i, rule);
        }
        write(rule);
    }

    /** The URL for those that are refused, and the expressions. */
    private boolean referers(SourceFile file, Words words, RemapRule rule, int end) {
        if (end < 5) {
            file.problem(words.entry(), "map_with_referer needs a URL for those that are refused, and expressions");
            return false;
        }
        boolean usual = words.at(3).equals("default");
        rule.refuse(
                usual ? input.records().value("http.referer_default_redirect", "http://www.example.com/") : words.at(3),
                words.words().subList(4, end));
        return true;
    }

    private void argument(SourceFile file, Words words, int index, RemapRule rule) {
        String word = words.at(index);
        if (!word.startsWith("@")) {
            if (index == 3 && rule.verb().contains("map")) {
                rule.entry().note("the tag '" + word + "' is not used");
            } else {
                rule.entry().notMapped("'" + word + "' is not understood");
            }
        } else if (!filters.take(file, words, index)) {
            arguments.take(word.substring(1), rule);
        }
    }

    private void write(RemapRule rule) {
        DraftNode node = input.draft().element("remap", rule.entry());
        node.put(rule.verb(), rule.verb().startsWith("regex") ? regex(rule) : rule.from());
        node.put("to", rule.to());
        if (!rule.referers().isEmpty()) {
            node.putWords("referers", rule.referers());
            node.put("referer_redirect", rule.refused());
        }
        rule.settings().forEach((key, value) -> {
            if (value.startsWith("[")) {
                node.putWords(key, RecordTable.split(value.substring(1, value.length() - 1)))
                        .optional();
            } else {
                node.put(key, value).optional();
            }
        });
        filters.write(rule, node);
        rule.at(node);
        rules.add(rule);
    }

    /** Expressions are for the whole host here, so marks for its ends say nothing. */
    private static String regex(RemapRule rule) {
        String from = rule.from();
        int start = from.indexOf("://") + 3;
        if (start < 3) {
            return from;
        }
        int end = from.indexOf('/', start);
        String host = from.substring(start, end < 0 ? from.length() : end);
        String whole = host.startsWith("^") ? host.substring(1) : host;
        whole = whole.endsWith("$") ? whole.substring(0, whole.length() - 1) : whole;
        if (whole.equals(host)) {
            rule.entry().note("the expression is for the whole host; Traffic Server finds it anywhere in it");
        }
        return from.substring(0, start) + whole + (end < 0 ? "/" : from.substring(end));
    }
}
