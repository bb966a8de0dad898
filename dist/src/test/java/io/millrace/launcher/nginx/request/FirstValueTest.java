package io.millrace.launcher.nginx.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.Schema;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that conditions for parameters and cookies hold for the requests for which they hold in nginx. */
final class FirstValueTest {
    /** A subject is the query, or the field Cookie; empty for a request without the field. */
    private static final Schema<String> SCHEMA = Schema.of(List.of(
            Field.text("query", "the query", query -> query),
            Field.keyed(
                    "request_header",
                    "the field Cookie",
                    (cookies, name) -> cookies.isEmpty() ? List.of() : List.of(cookies))));

    private static void check(String variable, String operator, String value, String subject, boolean expected)
            throws ExpressionException {
        String text = ConditionText.of(new Conditions.Condition(variable, operator, value));
        assertNotNull(text, variable);
        assertEquals(expected, Expression.parse(text, SCHEMA).test(subject), () -> text + " of '" + subject + "'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "``;``;a=1&key=x;true",
                "``;``;a=1&KEY=x;true",
                "``;``;key=0;false",
                "``;``;key=00;true",
                "``;``;key=&key=;false",
                "``;``;key&key=x;true",
                "``;``;monkey=x;false",
                "``;``;keys=x&ke=1&k;false",
                "``;``;``;false",
                "=;secret;key=secret;true",
                "=;secret;key=Secret;false",
                "=;secret;key=other&key=secret;false",
                "=;secret;Key=other&key=secret;false",
                "=;a.b;key=axb;false",
                "=;``;a=1;true",
                "=;``;key=&key=1;true",
                "!=;secret;key=other&key=secret;true",
                "!=;secret;kex=1&key=secret&key=other;false",
                "!=;secret;``;true",
                "~;^a.c$;key=abc&b;true",
                "~;^a.c$;key=abcd;false",
                "~;a.c;key=xABC;false",
                "~*;a.c;key=xABC;true",
                "~;a.c;key=a&c;false",
                "!~;^(a|b)$;x=1&key=b;false",
                "!~;^(a|b)$;x=1&key=c;true",
                "~;^a*$;x=1;true",
                "!~;^a*$;x=1;false"
            })
    void parametersAreThoseOfNginx(String operator, String value, String query, boolean expected)
            throws ExpressionException {
        check("arg_key", operator, value, query, expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            quoteCharacter = '`',
            value = {
                "``!``!PHPSESSID=x!true",
                "``!``!a=b; phpsessid=x!true",
                "``!``!a=b;   phpSessID = x!true",
                "``!``!a=b,phpsessid=x!true",
                "``!``!xphpsessid=x!false",
                "``!``!phpsessid2=x!false",
                "``!``!phpsessid= 0; a=b!false",
                "``!``!phpsessid= ; a=b!false",
                "``!``!a=phpsessid=x!false",
                "``!``!``!false",
                "=!x!a=b; PhpSessId=x; c=d!true",
                "=!x!PhpSessId=y; phpsessid=x!false",
                "=!x!PhpSessId=y;  phpsessid=x!false",
                "~!^x!phpsessid=xyz!true"
            })
    void cookiesAreThoseOfNginx(String operator, String value, String cookies, boolean expected)
            throws ExpressionException {
        check("cookie_phpsessid", operator, value, cookies, expected);
    }
}
