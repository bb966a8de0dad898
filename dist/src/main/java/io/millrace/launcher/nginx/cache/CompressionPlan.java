package io.millrace.launcher.nginx.cache;

import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.MediaTypes;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.nginx.remap.RuleSettings;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The translator of gzip, brotli and zstd into {@code compression} of a rule. Stateless. */
public final class CompressionPlan {
    /**
     * A module that compresses.
     *
     * @param name the directive that turns it on, and the first word of its other directives
     * @param encoding the name in Accept-Encoding
     * @param level nginx's default level
     */
    private record Module(String name, String encoding, int level, int levelMin, int levelMax) {
        String levelKey() {
            return "compression." + encoding + "_level";
        }
    }

    /** The modules. The module with the preferred encoding comes first. */
    private static final List<Module> MODULES = List.of(
            new Module("brotli", "br", 6, 0, 11),
            new Module("zstd", "zstd", 1, 1, 19),
            new Module("gzip", "gzip", 1, 1, 9));

    private static final String DEFAULT = "nginx's default (%s); without the line: %s";

    /** nginx always compresses content with this type, also if the types directive does not list it. */
    private static final String HTML = "text/html";

    private static final String SHARED = "the setting applies to all encodings that are on: ";

    private CompressionPlan() {}

    /** Sets {@code compression} of a rule if one of its blocks mentions a module. */
    public static void fill(Scope scope, RuleSettings.Rule rule) {
        List<Module> on = new ArrayList<>();
        List<Entry> switches = new ArrayList<>();
        for (Module each : MODULES) {
            Directive found = scope.last(each.name);
            if (found == null) {
                continue;
            }
            switches.add(found.markHandled());
            if (found.isOn()) {
                if (on.isEmpty()) {
                    found.entry().note("content above compression.max_size is not compressed");
                }
                on.add(each);
                if (each.name.equals("gzip")
                        && !scope.value("gzip_proxied", "off").equals("any")) {
                    found.entry().note("responses to requests with Via are compressed too");
                }
            }
        }
        Entry[] sources = switches.toArray(Entry[]::new);
        if (!switches.isEmpty()) {
            rule.put("compression.enabled", Boolean.toString(!on.isEmpty()), sources);
        }
        if (!on.isEmpty()) {
            rule.putWords(
                    "compression.encodings", on.stream().map(Module::encoding).toList(), sources);
            setTypes(scope, rule, on);
            setMinSize(scope, rule, on);
            on.forEach(each -> setLevel(scope, rule, each));
        }
    }

    /** Returns the directives of the modules whose names end with {@code ending}, such as {@code _types}. */
    private static List<Directive> found(Scope scope, List<Module> on, String ending) {
        List<Directive> found = new ArrayList<>();
        on.forEach(each -> found.addAll(scope.all(each.name + ending)));
        return found;
    }

    private static Entry[] entries(List<Directive> found) {
        return found.stream().map(Directive::markHandled).toArray(Entry[]::new);
    }

    /** Sets the types of all modules together, because Millrace has one list of types for all encodings. */
    private static void setTypes(Scope scope, RuleSettings.Rule rule, List<Module> on) {
        Set<String> all = new LinkedHashSet<>(List.of(HTML));
        Set<Set<String>> different = new HashSet<>();
        for (Module module : on) {
            Set<String> moduleTypes = new LinkedHashSet<>(List.of(HTML));
            for (Directive each : scope.all(module.name + "_types")) {
                each.args().forEach(word -> addType(word.toLowerCase(Locale.ROOT), each, moduleTypes));
            }
            different.add(moduleTypes);
            all.addAll(moduleTypes);
        }
        List<Directive> found = found(scope, on, "_types");
        if (found.isEmpty()) {
            String remark = String.format(DEFAULT, on.get(0).name + "_types " + HTML, "all text-like types");
            rule.putDefault("compression.types", List.of(HTML), remark);
            return;
        }
        if (all.contains(MediaTypes.ANY.get(0))) {
            all.clear();
            all.addAll(MediaTypes.ANY);
        }
        if (different.size() > 1) {
            found.get(0).entry().note(SHARED + "compression.types has the types of all");
        }
        rule.putWords("compression.types", List.copyOf(all), entries(found));
    }

    private static void addType(String word, Directive source, Set<String> to) {
        if (word.equals("*")) {
            to.addAll(MediaTypes.ANY);
            source.entry().note("responses without Content-Type are not compressed");
        } else if (MediaTypes.isType(word) && !word.endsWith("*")) {
            to.add(word);
        } else {
            source.notMapped("'" + word + "' is not a media type");
        }
    }

    private static void setMinSize(Scope scope, RuleSettings.Rule rule, List<Module> on) {
        Long least = null;
        Set<Long> different = new HashSet<>();
        for (Module module : on) {
            Directive each = scope.last(module.name + "_min_length");
            Long size = each == null ? null : Values.bytes(each.arg(0));
            if (each != null && size == null) {
                each.notMapped("'" + each.arg(0) + "' is not a size");
            }
            different.add(size == null ? 20L : size);
            least = size != null && (least == null || size < least) ? size : least;
        }
        if (least == null) {
            String remark = String.format(DEFAULT, on.get(0).name + "_min_length 20", "1KiB");
            rule.putDefault("compression.min_size", "20B", remark);
            return;
        }
        List<Directive> found = found(scope, on, "_min_length");
        if (different.size() > 1) {
            found.get(0).entry().note(SHARED + "compression.min_size is the smallest size");
        }
        rule.put("compression.min_size", Quantity.size(least), entries(found));
    }

    private static void setLevel(Scope scope, RuleSettings.Rule rule, Module module) {
        Directive found = scope.last(module.name + "_comp_level");
        if (found == null) {
            String remark = String.format(
                    DEFAULT, module.name + "_comp_level " + module.level, module.encoding.equals("br") ? "5" : "6");
            rule.putDefault(module.levelKey(), Integer.toString(module.level), remark);
        } else if (!found.arg(0).matches("-?\\d{1,6}")) {
            found.notMapped("'" + found.arg(0) + "' is not a level");
        } else {
            int level = Integer.parseInt(found.arg(0));
            int nearest = Math.max(module.levelMin, Math.min(module.levelMax, level));
            if (nearest != level) {
                found.entry().note("levels are from " + module.levelMin + " to " + module.levelMax);
            }
            rule.put(module.levelKey(), Integer.toString(nearest), found.markHandled());
        }
    }

    /** Returns the note about a directive that sets nothing in {@code compression}; null for other directives. */
    public static @Nullable String note(Directive each) {
        String value = each.text();
        return switch (each.name()) {
            case "gzip_vary" ->
                value.equals("on")
                        ? "the value is on, as in Millrace"
                        : "if compression is on, responses of its types always have Vary: Accept-Encoding";
            case "gzip_proxied" ->
                value.equals("any")
                        ? "the value is any, as in Millrace"
                        : "responses to requests with Via are compressed like all others";
            case "gzip_http_version" ->
                value.equals("1.0")
                        ? "the value is 1.0, as in Millrace"
                        : "clients with HTTP/1.0 get compressed content too, if they accept it";
            case "gzip_disable" -> "compression depends on Accept-Encoding only, not on User-Agent";
            default -> null;
        };
    }
}
