package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.cache.CachePlan;
import io.millrace.launcher.nginx.remap.SplitClients;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The writer of the branches of a rule whose origin {@code split_clients} chooses. Confined to one thread. */
final class SplitWriter {
    /** The lines that lead to one origin, and their share of the clients. */
    private record Branch(Target target, List<Directive> lines, BigDecimal weight) {}

    private final Upstreams upstreams;

    SplitWriter(Upstreams upstreams) {
        this.upstreams = upstreams;
    }

    /**
     * Writes the branches of a rule. Does nothing if the rule has one origin.
     *
     * @param node the rule, with its own origin
     */
    void write(Scope scope, Target ruleTarget, DraftNode node) {
        SplitClients split = ruleTarget.split();
        if (split == null) {
            return;
        }
        Entry source = split.source().markHandled();
        String by = split.splitBy();
        if (by == null) {
            source.notMapped("all clients get the origin " + ruleTarget.authority()
                    + ": clients are divided by their address or one cookie; write remap[].split with split_by");
            return;
        }
        source.recordKey("remap[].split");
        source.note("Millrace uses another hash than nginx, so clients may get another branch than before");
        if (by.startsWith("cookie")) {
            node.put("split_by", by).from(source);
            source.note("without the cookie the client's address decides; the name of the cookie is case-sensitive");
        }
        Directive key = scope.last("proxy_cache_key");
        Directive sharing = key != null && CachePlan.isOn(scope) && !isSeparate(key, split) ? key : null;
        for (Branch each : branches(split, scope, ruleTarget)) {
            DraftNode element = node.addElement("split").removableIfInvalid();
            writeOrigin(scope, ruleTarget, each.target, element);
            element.put("weight", each.weight.stripTrailingZeros().toPlainString());
            each.lines.forEach(line -> element.from(line.markHandled()));
            if (sharing != null) {
                element.put("separate_cache", "false").from(sharing.entry());
            }
        }
    }

    /** Returns true if the cache key depends on the origin. */
    private static boolean isSeparate(Directive key, SplitClients split) {
        return key.text().replaceAll("[{}]", "").matches(".*\\$(proxy_host|" + split.variable() + ")\\b.*");
    }

    /** Returns the origins that differ from the rule's own. */
    private static List<Branch> branches(SplitClients split, Scope scope, Target ruleTarget) {
        Map<String, Branch> branches = new LinkedHashMap<>();
        for (SplitClients.Part each : split.parts()) {
            Target target = Target.ofPart(scope, ruleTarget, each);
            if (target == null || target.isSameOrigin(ruleTarget)) {
                each.line().markHandled().recordKey("remap[].to");
                continue;
            }
            Branch sameOrigin = branches.get(target.authority());
            List<Directive> lines = new ArrayList<>(sameOrigin == null ? List.of() : sameOrigin.lines);
            lines.add(each.line());
            BigDecimal weight = sameOrigin == null ? each.percentage() : sameOrigin.weight.add(each.percentage());
            branches.put(target.authority(), new Branch(target, lines, weight));
        }
        return List.copyOf(branches.values());
    }

    private void writeOrigin(Scope scope, Target ruleTarget, Target target, DraftNode element) {
        String authority = target.authority();
        Directive host = Headers.host(scope);
        if (upstreams.has(authority)) {
            element.put("origins", upstreams.group(authority, target.scheme(), scope));
            if (host == null) {
                target.source()
                        .entry()
                        .note("origins of upstream " + authority + " get the Host field " + ruleTarget.authority());
            }
        } else if (host != null && Headers.isFixed(host.arg(1))) {
            // In a group, hosts get the Host field of the rule.
            element.put("origins", upstreams.single(target.scheme(), authority, target));
        } else {
            // The default name is the host without port, which two branches can share.
            element.put("name", authority);
            element.put("to", target.scheme() + "://" + authority);
        }
    }
}
