package io.millrace.proxy.rules;

import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import java.util.ArrayList;
import java.util.List;

/**
 * The rules that apply to the requests of one remap rule, in order. The rules for all requests are first, then the
 * rules of the remap rule. There are no loops, and the number of rules is limited. Immutable.
 */
public final class RuleProgram {
    private static final RuleConfig[] NONE = {};

    private final RuleConfig[] all;
    private final RuleConfig[] onRequest;
    private final RuleConfig[] onOriginRequest;
    private final RuleConfig[] onOriginResponse;
    private final RuleConfig[] onResponse;
    private final boolean readsRandom;
    private final boolean distinguishesPost;

    private RuleProgram(List<RuleConfig> rules) {
        all = rules.toArray(NONE);
        onRequest = rules.stream().filter(RuleConfig::actsOnRequest).toArray(RuleConfig[]::new);
        onOriginRequest =
                rules.stream().filter(rule -> rule.requestEdits() != null).toArray(RuleConfig[]::new);
        onOriginResponse =
                rules.stream().filter(rule -> rule.storedEdits() != null).toArray(RuleConfig[]::new);
        onResponse = rules.stream().filter(rule -> rule.responseEdits() != null).toArray(RuleConfig[]::new);
        readsRandom = rules.stream()
                .anyMatch(rule -> rule.when() != null
                        && rule.when().fields().stream()
                                .anyMatch(field -> field.name().equals("random")));
        distinguishesPost = rules.stream().anyMatch(RuleProgram::distinguishesPost);
    }

    /** Returns true if a rule changes GET and POST, or their responses before they are stored, differently. */
    private static boolean distinguishesPost(RuleConfig rule) {
        return (rule.rewrite() != null || rule.requestEdits() != null || rule.storedEdits() != null)
                && !rule.bypass()
                && rule.when() != null
                && !rule.when().isSameFor("method", "GET", "POST");
    }

    /** Returns the program with the rules for all requests and those of one remap rule. */
    public static RuleProgram of(List<RuleConfig> general, List<RuleConfig> ofRemapRule) {
        List<RuleConfig> rules = new ArrayList<>(general);
        rules.addAll(ofRemapRule);
        return new RuleProgram(rules);
    }

    /** Returns true if a condition reads the random number of the request. */
    public boolean readsRandom() {
        return readsRandom;
    }

    /**
     * Returns true if a rule may treat GET and POST differently. Responses to POST are then not stored for later GETs.
     */
    public boolean distinguishesPost() {
        return distinguishesPost;
    }

    /** Returns the rules with actions before the response, in order. The caller must not change the array. */
    public RuleConfig[] onRequest() {
        return onRequest;
    }

    /** All rules, in order. */
    public List<RuleConfig> all() {
        return List.of(all);
    }

    /** Returns true if rules may change the fields of requests to the origin. */
    public boolean changesOriginRequests() {
        return onOriginRequest.length > 0;
    }

    /** Returns true if rules may change the fields of the origin's responses. */
    public boolean changesOriginResponses() {
        return onOriginResponse.length > 0;
    }

    /** Returns the fields of an origin's response after the changes of the matching rules. */
    public FieldSection receivedFields(RequestView view, FieldSection fields) {
        FieldSection changed = fields;
        for (RuleConfig rule : onOriginResponse) {
            FieldEdits edits = rule.storedEdits();
            if (edits != null && rule.matches(view)) {
                changed = edits.applyTo(changed);
            }
        }
        return changed;
    }

    /** Returns true if rules may change the fields of responses. */
    public boolean changesResponses() {
        return onResponse.length > 0;
    }

    /** Returns the fields for the origin after the changes of the matching rules. */
    public FieldSection originFields(RequestView view, FieldSection fields) {
        FieldSection changed = fields;
        for (RuleConfig rule : onOriginRequest) {
            FieldEdits edits = rule.requestEdits();
            if (edits != null && rule.matches(view)) {
                changed = edits.applyTo(changed);
            }
        }
        return changed;
    }

    /** Applies the changes of the matching rules to a response head. Allocates memory only if a condition does. */
    public void deliver(RequestView view, OutboundHead head) {
        for (RuleConfig rule : onResponse) {
            FieldEdits edits = rule.responseEdits();
            if (edits != null && rule.matches(view)) {
                head.edit(edits);
            }
        }
    }
}
