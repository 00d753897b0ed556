//! From a model to functions in memory.

use super::emit::Emitter;
use super::layout::Layout;
use super::{Compiled, Function, NotAvailable};
use crate::ir::{Action, Model, ProctypeId};
use cranelift_codegen::ir::{AbiParam, Signature, UserFuncName, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, control::ControlPlane};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module};
use std::sync::Mutex;

/// Memory with code in it, given back when nobody can call it any more.
pub struct Memory(Mutex<Option<JITModule>>);

impl Drop for Memory {
    fn drop(&mut self) {
        let module = self.0.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: only `Native` has pointers into this memory, and it drops it together with them.
            unsafe { module.free_memory() };
        }
    }
}

/// A function that is compiled but has no address yet.
struct Defined {
    id: FuncId,
    message: u32,
    frame_size: u32,
}

struct Builder<'m> {
    model: &'m Model,
    layout: &'m Layout,
    module: JITModule,
    signature: Signature,
    context: Context,
    builder_context: FunctionBuilderContext,
}

/// Compiles every edge that has native code.
pub fn compile(model: &Model, layout: &Layout) -> Result<(Vec<Option<Compiled>>, Memory), NotAvailable> {
    let module = module()?;
    let mut signature = module.make_signature();
    let parameters = [types::I64; 5];
    signature.params.extend(parameters.map(AbiParam::new));
    signature.returns.push(AbiParam::new(types::I32));
    let context = module.make_context();
    let builder_context = FunctionBuilderContext::new();
    let mut builder = Builder { model, layout, module, signature, context, builder_context };
    let functions = builder.functions()?;
    builder.module.finalize_definitions().map_err(not_available)?;
    let compiled = functions.into_iter().map(|function| {
        let Defined { id, message, frame_size } = function?;
        let code = builder.module.get_finalized_function(id);
        // SAFETY: the function was defined with the signature that `Function` has.
        let function = unsafe { std::mem::transmute::<*const u8, Function>(code) };
        Some(Compiled { function, message, frame_size })
    });
    Ok((compiled.collect(), Memory(Mutex::new(Some(builder.module)))))
}

fn module() -> Result<JITModule, NotAvailable> {
    let mut flags = settings::builder();
    for (name, value) in [("opt_level", "speed"), ("enable_verifier", if cfg!(test) { "true" } else { "false" })] {
        flags.set(name, value).map_err(not_available)?;
    }
    let isa = cranelift_native::builder()
        .map_err(not_available)?
        .finish(settings::Flags::new(flags))
        .map_err(not_available)?;
    Ok(JITModule::new(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names())))
}

fn not_available(error: impl std::fmt::Display) -> NotAvailable {
    NotAvailable(error.to_string())
}

impl Builder<'_> {
    /// One function for each edge, in order.
    fn functions(&mut self) -> Result<Vec<Option<Defined>>, NotAvailable> {
        let model = self.model;
        let mut functions = Vec::new();
        for (proctype, declared) in model.proctypes.iter().enumerate() {
            for edge in declared.states.iter().flat_map(|state| &state.edges) {
                let id = self.function(proctype, &edge.action)?;
                let (message, frame_size) = (message_length(&edge.action), declared.frame_size);
                functions.push(id.map(|id| Defined { id, message, frame_size }));
            }
        }
        Ok(functions)
    }

    fn function(&mut self, proctype: ProctypeId, action: &Action) -> Result<Option<FuncId>, NotAvailable> {
        self.module.clear_context(&mut self.context);
        self.context.func.signature = self.signature.clone();
        self.context.func.name = UserFuncName::default();
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let mut emitter = Emitter::new(builder, self.model, self.layout, proctype);
        if emitter.statement(action).is_none() {
            // A function that was given up leaves its builder in the middle of things.
            self.builder_context = FunctionBuilderContext::new();
            return Ok(None);
        }
        emitter.finish(self.module.target_config());
        let id = self.module.declare_anonymous_function(&self.signature).map_err(not_available)?;
        self.module
            .define_function_with_control_plane(id, &mut self.context, &mut ControlPlane::default())
            .map_err(|error| NotAvailable(format!("{error:?}")))?;
        Ok(Some(id))
    }
}

fn message_length(action: &Action) -> u32 {
    match action {
        Action::Send(send) => send.values.len() as u32,
        _ => 0,
    }
}
