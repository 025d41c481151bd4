import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.paimon.flink.action.Action;
import org.apache.paimon.flink.action.ActionBase;
import org.apache.paimon.flink.action.ActionFactory;

/** Runs one of Paimon's actions in this JVM: no cluster, a checkpoint each second, no restarts. */
public final class CdcAction {
    private CdcAction() {}

    public static void main(String[] args) throws Exception {
        Configuration settings = new Configuration();
        settings.setString("restart-strategy.type", "none");
        settings.setString("rest.bind-address", "127.0.0.1");
        settings.setString("rest.port", "0");
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(1, settings);
        environment.enableCheckpointing(1000);
        Action action = ActionFactory.createAction(args).get();
        ((ActionBase) action).withStreamExecutionEnvironment(environment);
        action.run();
    }
}
