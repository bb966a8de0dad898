package io.millrace.launcher.ats.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.ats.settings.LogFilterText.NoEquivalentException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFields;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the conversion of Traffic Server's log filters to expressions. */
final class LogFilterTextTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "accept ; pssc MATCH 304 ; status == 304",
                "reject ; pssc MATCH 304 ; !(status == 304)",
                "REJECT ; pssc GTE 500 ; !(status >= 500)",
                "accept ; pssc MATCH 200,304 ; status == 200 || status == 304",
                "accept ; pssc LTE 299 ; status < 300",
                "accept ; ttms GT 1000 ; duration >= 1001ms",
                "accept ; ttms MATCH 5 ; (duration >= 5ms && duration < 6ms)",
                "accept ; tts LT 2 ; duration < 2s",
                "accept ; psql GT 100 ; bytes >= 101B",
                "accept ; cquuc CONTAIN a.b ; url =~ \"a\\\\.b\"",
                "accept ; cquup CASE_INSENSITIVE_CONTAIN /Img ; target =~ \"(?i)/Img\"",
                "accept ; %<cqhm> MATCH GET ; method == \"GET\"",
                "accept ; cqhm CASE_INSENSITIVE_MATCH get ; method =~ \"(?i)^get$\"",
                "accept ; cquuh CONTAIN Example ; host =~ \"example\"",
                "accept ; chi MATCH 192.0.2.7 ; client == \"192.0.2.7\"",
                "accept ; {User-Agent}cqh CONTAIN bot ; user_agent =~ \"bot\"",
            })
    void aFilterBecomesAnExpression(String action, String condition, String expected) throws Exception {
        String text = LogFilterText.of(action, condition);
        assertEquals(expected, text);
        Expression.parse(text, LoggedFields.SCHEMA);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "wipe_field_value ; cquup CONTAIN password ; the action wipe_field_value has no equivalent",
                "accept ; cqssr MATCH 1 ; no field for cqssr",
                "accept ; pssc CONTAIN 3 ; the operator CONTAIN is not for numbers",
                "accept ; cqhm GT 3 ; the operator GT is not for texts",
                "accept ; pssc GT 1,2 ; needs one number",
                "accept ; pssc MATCH ok ; 'ok' is not a number",
                "accept ; chi MATCH 10.0.0.0-10.0.0.9 ; not with ranges",
                "accept ; pssc ; the condition is not FIELD OPERATOR VALUE"
            })
    void aFilterWithoutEquivalentHasAReason(String action, String condition, String reason) {
        NoEquivalentException problem =
                assertThrows(NoEquivalentException.class, () -> LogFilterText.of(action, condition));
        assertTrue(String.valueOf(problem.getMessage()).contains(reason), problem::toString);
    }
}
