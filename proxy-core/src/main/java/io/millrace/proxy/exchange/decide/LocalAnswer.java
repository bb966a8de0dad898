package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.http.FieldSection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An answer that this proxy generates, without the cache and the origin. Immutable.
 *
 * @param status status of the response
 * @param reason the reason for a refusal, for the client; otherwise the reason for the log, such as the name of a rule
 * @param check log name of the check that denied the request, such as a filter or request limit; null for none
 * @param location target of a redirect; null for none
 * @param allow value of the Allow field; null for none
 * @param fields fields of the response; they replace fields of this proxy with the same names; null for none
 * @param body content of the response of another server; null to send a line or an error page of this proxy
 * @param byRule the answer of a rule; null for none
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record LocalAnswer(
        int status,
        String reason,
        @Nullable String check,
        @Nullable String location,
        @Nullable String allow,
        @Nullable FieldSection fields,
        byte @Nullable [] body,
        RuleConfig.@Nullable Answer byRule) {
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;

    static LocalAnswer denied(int status, String reason, @Nullable String check) {
        return new LocalAnswer(status, reason, check, null, null, null, null, null);
    }

    /**
     * Returns a refusal with the response of another server. If the body is empty, a line or an error page of this
     * proxy is sent.
     */
    static LocalAnswer denied(int status, String reason, String check, FieldSection fields, byte[] body) {
        return new LocalAnswer(status, reason, check, null, null, fields, body.length == 0 ? null : body, null);
    }

    static LocalAnswer notMapped(String reason) {
        return denied(NOT_FOUND, reason, null);
    }

    static LocalAnswer redirected(int status, String location, String reason) {
        return new LocalAnswer(status, reason, null, location, null, null, null, null);
    }

    /** Returns the answer to OPTIONS or TRACE in place of the origin. */
    static LocalAnswer finalRecipient(String allow) {
        return new LocalAnswer(OK, "", null, null, allow, null, null, null);
    }

    /** Returns the answer that the rule with this name defines. */
    static LocalAnswer ofRule(RuleConfig.Answer answer, String rule) {
        return new LocalAnswer(answer.status(), rule, null, null, null, null, null, answer);
    }

    LocalAnswer allow(String methods) {
        return new LocalAnswer(status, reason, check, location, methods, fields, body, byRule);
    }

    /** The target of the redirect. */
    public String redirectTarget() {
        return Objects.requireNonNull(location, "not redirected");
    }

    /** The answer of a rule. */
    public RuleConfig.Answer ruleAnswer() {
        return Objects.requireNonNull(byRule, "not answered by a rule");
    }
}
