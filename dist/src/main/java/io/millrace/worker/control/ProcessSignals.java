package io.millrace.worker.control;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Installs handlers of operating system signals. Uses the JDK's class sun.misc.Signal by reflection, because direct
 * references to this unsupported class cause compiler warnings. On a JVM without the class, no handlers are installed.
 * Stateless.
 */
public final class ProcessSignals {
    private ProcessSignals() {}

    /**
     * Installs a handler. A JVM thread runs {@code action} whenever the process receives the signal.
     *
     * @param signal name of the signal, such as {@code TERM} or {@code HUP}
     * @return false if the JVM does not permit a handler, because the signal is unknown or the JVM has the option
     *     {@code -Xrs}
     */
    public static boolean handle(String signal, Runnable action) {
        try {
            Class<?> signalType = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object named = signalType.getConstructor(String.class).newInstance(signal);
            Object handler = Proxy.newProxyInstance(
                    ProcessSignals.class.getClassLoader(), new Class<?>[] {handlerType}, new Handler(signal, action));
            signalType.getMethod("handle", signalType, handlerType).invoke(null, named, handler);
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    private record Handler(String signal, Runnable action) implements InvocationHandler {
        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) {
            return switch (method.getName()) {
                case "handle" -> {
                    action.run();
                    yield null;
                }
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == arguments[0];
                default -> "handler of " + signal;
            };
        }
    }
}
